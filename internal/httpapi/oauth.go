package httpapi

import (
	"net/http"
	"strings"

	"quarry/internal/fault"
)

// oauthCodes are the codes of RFC 6749 (5.2) that handlers give their faults.
var oauthCodes = map[string]bool{
	"invalid_request": true, "invalid_client": true, "invalid_grant": true, "unauthorized_client": true,
	"unsupported_grant_type": true, "invalid_scope": true,
}

// addOAuth adds what RFC 6749 asks of a refusal; description is its text.
func addOAuth(w http.ResponseWriter, f *fault.Fault, b *errorBody) {
	switch {
	case oauthCodes[f.Code]:
		b.Error = f.Code
	case f.Kind == fault.KindUnauthenticated:
		b.Error = "invalid_client"
	case f.Kind == fault.KindInvalid || f.Kind == fault.KindTooLarge || f.Kind == fault.KindMediaType:
		b.Error = "invalid_request"
	case f.Kind == fault.KindUnavailable || f.Kind == fault.KindLimited:
		b.Error = "temporarily_unavailable"
	default:
		b.Error = "server_error"
	}
	_, b.ErrorDescription, _ = strings.Cut(b.Messages[0], ": ") // the word before it says what the code says
	w.Header().Set("Pragma", "no-cache")
	if f.Kind == fault.KindUnauthenticated {
		w.Header().Set("WWW-Authenticate", `Basic realm="quarry", charset="UTF-8"`)
	}
}
