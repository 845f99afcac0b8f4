package documents

import (
	"net/http"

	"quarry/internal/httpapi"
)

// imageWhole is an image with its bytes, which JSON writes in base64.
type imageWhole struct {
	ID          string    `json:"id"`
	Title       string    `json:"title,omitempty"`
	Caption     string    `json:"caption,omitempty"`
	Description string    `json:"description,omitempty"`
	Data        imageData `json:"image_data"`
}

type imageData struct {
	Data     []byte `json:"data"`
	MimeType string `json:"mime_type"`
}

// image answers with the image as JSON rather than as its bytes (contract: Images).
func (a *Area) image(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	m, err := a.documents.Image(r.Context(), c.Path["corpus_key"], c.Path["document_id"], c.Path["image_id"])
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, imageWhole{m.ID, m.Title, m.Caption, m.Description, imageData{m.Data, m.MimeType}})
}
