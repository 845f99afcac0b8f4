package documents

import (
	"net/http"
	"path"
	"regexp"
	"strings"

	"quarry/internal/corpus/document"
	"quarry/internal/corpus/ingest"
	"quarry/internal/corpus/metadata"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/form"
)

// upload takes a file. The order of refusals is the contract's: media type, size, then the parts.
func (a *Area) upload(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	f, err := readForm(r, a.limits.Upload)
	if err != nil {
		return err
	}
	if f.hasFile && !f.isJSON() {
		if err := ingest.Supported(f.typeName(), f.contentType); err != nil {
			return err
		}
	}
	if f.tooLarge {
		return fault.TooLarge("the file has more than %d bytes, the setting max_upload of this service", a.limits.Upload)
	}
	if err := c.NameParts(f.members); err != nil {
		return err
	}
	file, err := f.upload(c)
	if err != nil {
		return err
	}
	file.Replace = replaces(c)
	if err := c.Enter(r.Context()); err != nil {
		return err
	}
	d, err := a.ingest.Upload(r.Context(), c.Path["corpus_key"], *file)
	if err != nil {
		return fault.Under(err, "body")
	}
	return added(w, d)
}

// upload maps the parts of a form to the command, collecting every fault.
func (f *uploadForm) upload(c *httpapi.Call) (*ingest.Upload, error) {
	f.call = c
	bad := fault.Invalid()
	switch {
	case !f.hasFile:
		bad.Field("body.file", "is required")
	case len(f.file) == 0:
		bad.Field("body.file", "must not be empty")
	}
	id, noID := f.id()
	if f.isJSON() {
		noID = nil // the id is inside
	}
	noMetadata := f.check("metadata", "")
	chunking, noChunking := f.chunking()
	u := &ingest.Upload{
		ID: id, Name: f.typeName(), ContentType: f.contentType, Data: f.file, Metadata: f.members["metadata"],
		Chunking: chunking.strategy(bad, "body.chunking_strategy"),
	}
	tables, noTables := f.tables()
	if err := collect(bad, noID, noMetadata, noChunking, noTables, fault.Under(tables.Check(), "body")); err != nil {
		return nil, err
	}
	u.Tables, u.Outside = tables, c.Outside
	for _, name := range []string{"metadata", "chunking_strategy", "table_extraction_config"} {
		u.Options = append(u.Options, f.members[name])
	}
	var err error
	if f.isJSON() {
		u.Draft, err = f.draft(u, chunking)
	}
	return u, err
}

// collect adds the fields of errs to f. It returns f if that has any fields, or the first error of another kind.
func collect(f *fault.Fault, errs ...error) error {
	for _, err := range errs {
		if err == nil {
			continue
		}
		other, ok := fault.As(err)
		if !ok {
			return err
		}
		if f.Text == "" {
			f.Text = other.Text
		}
		for path, reason := range other.Fields {
			f.Field(path, "%s", reason)
		}
	}
	return f.Err()
}

// check holds a JSON member to the rules of JSON bodies and, when named, to a schema of the contract. A blank member
// and null count as left out.
func (f *uploadForm) check(name, schema string) error {
	raw := f.members[name]
	if text := strings.TrimSpace(string(raw)); text == "" || text == "null" {
		delete(f.members, name)
		return nil
	}
	if schema == "" {
		return httpapi.CheckJSON(raw, "body."+name)
	}
	checked, err := f.call.CheckMember(raw, name, schema)
	f.members[name] = checked
	return err
}

func (f *uploadForm) chunking() (*wireChunking, error) {
	if err := f.check("chunking_strategy", "ChunkingStrategy"); err != nil || f.members["chunking_strategy"] == nil {
		return nil, err
	}
	var w wireChunking
	return &w, unmarshal("body.chunking_strategy", f.members["chunking_strategy"], &w)
}

// tables returns how tables are found and described, nil where that is not asked for.
func (f *uploadForm) tables() (*ingest.Tables, error) {
	const part = "table_extraction_config"
	if err := f.check(part, "TableExtractionConfig"); err != nil || f.members[part] == nil {
		return nil, err
	}
	var w wireTables
	err := unmarshal("body."+part, f.members[part], &w)
	return w.tables(), err
}

// draft reads a file that holds a document in the form of createCorpusDocument. The id inside wins over the file's
// name, a chunking strategy inside over the one beside the file, metadata beside the file over the one inside.
func (f *uploadForm) draft(u *ingest.Upload, chunking *wireChunking) (document.Draft, error) {
	var w wireDocument
	body, err := f.call.CheckMember(f.file, "file", "CreateDocumentRequest")
	if err != nil {
		return nil, err
	}
	if err := unmarshal("body.file", body, &w); err != nil {
		return nil, err
	}
	if w.Chunking == nil {
		w.Chunking = chunking
	}
	if u.Metadata != nil {
		if w.Metadata, err = metadata.Merge(u.Metadata, w.Metadata); err != nil {
			return nil, fault.InvalidField("body.metadata", "%s", err)
		}
	}
	d, err := w.draft()
	return d, fault.Under(err, "body.file")
}

// typeName returns the name that identifies the format: the filename part, which overrides the file's own name, unless only the
// latter ends in what looks like an extension.
func (f *uploadForm) typeName() string {
	name := form.DecodeName(string(f.members["filename"]))
	if f.fileName == "" || extensionLike.MatchString(name) {
		return name
	}
	return f.fileName
}

var extensionLike = regexp.MustCompile(`\.[A-Za-z]{2,8}$`)

// isJSON reports whether the file is JSON by its declared type, whose parameters do not matter, or by its name.
func (f *uploadForm) isJSON() bool {
	kind, _, _ := strings.Cut(f.contentType, ";")
	return strings.EqualFold(strings.TrimSpace(kind), "application/json") || strings.EqualFold(path.Ext(f.typeName()), ".json")
}
