package documents

import (
	"encoding/json"

	"quarry/internal/corpus/document"
	"quarry/internal/httpapi"
)

// Reader reads the documents of agents' tools, which are written as those of clients are. It is an indexing.Reader.
type Reader struct{}

// Read implements indexing.Reader: it reads the body of createCorpusDocument, whose members faults name.
func (Reader) Read(raw json.RawMessage) (document.Draft, error) {
	checked, err := httpapi.CheckAs(raw, "", "CreateDocumentRequest")
	if err != nil {
		return nil, err
	}
	var w wireDocument
	if err := unmarshal("", checked, &w); err != nil {
		return nil, err
	}
	return w.draft()
}
