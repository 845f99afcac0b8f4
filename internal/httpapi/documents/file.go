package documents

import (
	"mime"
	"net/http"
	"time"

	"quarry/internal/httpapi"
)

// file sends the file that a document was read from. It is somebody's file, HTML among them: a browser stores it and runs none of it.
func (a *Area) file(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	f, content, err := a.documents.File(r.Context(), c.Path["corpus_key"], c.Path["document_id"])
	if err != nil {
		return err
	}
	defer content.Close()
	h := w.Header()
	h.Set("Content-Type", f.MIME)
	h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	http.ServeContent(w, r, "", time.Time{}, content)
	return nil
}
