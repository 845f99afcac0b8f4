package documents

import (
	"errors"
	"io"
	"net/http"

	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/form"
)

// maxMembers is how many parts an upload has at most.
const maxMembers = 64

// uploadForm is a form with one file.
type uploadForm struct {
	file        []byte
	hasFile     bool
	tooLarge    bool   // the file exceeds its limit; file holds nothing
	contentType string // as the file part declares it, "" when it does not
	fileName    string // the file part's filename, decoded; "" when it has none
	members     form.Members

	call *httpapi.Call
}

// errTooLarge ends the reading of a form whose file is too large: what follows can't change the outcome, and the server takes
// in the rest.
var errTooLarge = errors.New("the file is too large")

// readForm reads the body of an upload, holding at most limit bytes of the file.
func readForm(r *http.Request, limit int64) (*uploadForm, error) {
	f := &uploadForm{}
	var err error
	f.members, err = form.Read(r, form.Spec{File: "file", Parts: maxMembers, Take: func(in *form.File) error { return f.take(in, limit) }})
	if errors.Is(err, errTooLarge) {
		return f, nil
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (f *uploadForm) take(in *form.File, limit int64) (err error) {
	if f.hasFile {
		return fault.InvalidField("body.file", "was sent twice; send one file with each request")
	}
	f.hasFile, f.fileName, f.contentType = true, in.Name, in.Type
	if f.file, err = io.ReadAll(io.LimitReader(in, limit+1)); err != nil {
		return err
	}
	if int64(len(f.file)) > limit {
		f.file, f.tooLarge = nil, true
		return errTooLarge
	}
	return nil
}

// id returns the document id: the filename part, else the name of the file (contract: upload_file).
func (f *uploadForm) id() (string, error) {
	if raw, ok := f.members["filename"]; ok {
		if id := form.DecodeName(string(raw)); id != "" {
			return id, nil
		}
		return "", fault.InvalidField("body.filename", "must not be empty")
	}
	if f.fileName == "" {
		return "", fault.InvalidField("body.filename", "is required when the file part has no filename")
	}
	return f.fileName, nil
}
