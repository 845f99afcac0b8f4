package scripted

import (
	"net/http"
)

// Token is the access token that the token endpoint issues.
const Token = "scripted-access-token"

// tokens registers the OAuth token endpoint, /oauth/token. It accepts the credentials of any client whose id is not "bad",
// as Basic authentication or in the form, and any JWT assertion. They are recorded in Request.Form and Request.Header.
func (s *Server) tokens() {
	s.mux.HandleFunc("POST /oauth/token", func(w http.ResponseWriter, r *http.Request) {
		err := r.ParseForm()
		met := newRequest(r, nil)
		met.Form = r.PostForm
		s.keep(met)
		defer close(met.Done)
		id, secret, basic := r.BasicAuth()
		if !basic {
			id, secret = r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
		}
		assertion := r.PostForm.Get("assertion") != ""
		switch {
		case err != nil || r.PostForm.Get("grant_type") == "":
			answer(w, http.StatusBadRequest, obj{"error": "invalid_request"})
		case id == "bad" || !assertion && (id == "" || secret == ""):
			answer(w, http.StatusUnauthorized, obj{"error": "invalid_client", "error_description": "client " + id + " with secret " + secret + " is unknown"})
		default:
			answer(w, http.StatusOK, obj{"access_token": Token, "token_type": "Bearer", "expires_in": 3600})
		}
	})
}
