package refusal

import (
	"encoding/json"
	"net/http"
	"strings"

	"quarry/internal/fault"
)

// oauthCodes are the codes of RFC 6749 (5.2), which the faults of handlers may have.
var oauthCodes = map[string]bool{
	"invalid_request": true, "invalid_client": true, "invalid_grant": true, "unauthorized_client": true,
	"unsupported_grant_type": true, "invalid_scope": true,
}

// AddOAuth adds what RFC 6749 asks for.
func (b *Body) AddOAuth(h http.Header, f *fault.Fault) {
	code := "server_error"
	switch {
	case oauthCodes[f.Code]:
		code = f.Code
	case f.Kind == fault.KindUnauthenticated:
		code = "invalid_client"
	case f.Kind == fault.KindInvalid || f.Kind == fault.KindTooLarge || f.Kind == fault.KindMediaType:
		code = "invalid_request"
	case f.Kind == fault.KindUnavailable || f.Kind == fault.KindLimited:
		code = "temporarily_unavailable"
	}
	b.Error, _ = json.Marshal(code)                             // strings always encode
	_, b.ErrorDescription, _ = strings.Cut(b.Messages[0], ": ") // the word before it repeats the code
	h.Set("Pragma", "no-cache")
	if f.Kind == fault.KindUnauthenticated {
		h.Set("WWW-Authenticate", `Basic realm="quarry", charset="UTF-8"`)
	}
}
