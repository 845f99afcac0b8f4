package httpapi

import (
	"encoding/json"
	"strings"

	"quarry/internal/httpapi/check"
)

const (
	// unknownHeader names the members of a request body that the contract doesn't know. They are ignored, as clients newer
	// than the service need; a mistyped one would otherwise go unnoticed. Its value is places between commas, each with the
	// known member that was probably meant: "search.limt;near=limit, chat". "..." in the last place stands for more.
	unknownHeader = "X-Quarry-Unknown"
	// maxUnknown is how many bytes the header may have.
	maxUnknown = 1024
)

// nameUnknown adds to the header of the answer the members of v that the schema doesn't know, for which path is where v
// stands in the body. It comes before the check of v, which removes members.
func (c *Call) nameUnknown(schema string, v any, path string) error {
	all, err := check.Contract()
	if err != nil {
		return err
	}
	found, err := all.Unknown(schema, v, path)
	if err != nil {
		return err
	}
	c.unknown = append(c.unknown, found...)
	if len(c.unknown) > 0 && c.answer != nil {
		c.answer.Set(unknownHeader, spell(c.unknown))
	}
	return nil
}

// spell returns the value of unknownHeader.
func spell(all []check.Unknown) string {
	const more = ", ..."
	var out strings.Builder
	for i, u := range all {
		item := u.Place
		if u.Near != "" {
			item += ";near=" + u.Near
		}
		if i == check.MaxUnknown || out.Len()+len(", ")+len(item) > maxUnknown-len(more) {
			return strings.TrimPrefix(out.String()+more, ", ")
		}
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(item)
	}
	return out.String()
}

// CheckMember is CheckAs for a part of a form or for a file that holds a body. Members that the contract doesn't know are
// named in the answer.
func (c *Call) CheckMember(raw []byte, path, schema string) (json.RawMessage, error) {
	return checkAs(raw, "body."+path, schema, func(v any) error { return c.nameUnknown(schema, v, path) })
}

// NameParts names in the answer the parts of a form that the contract doesn't know.
func (c *Call) NameParts(parts map[string][]byte) error {
	if c.Op == nil || c.Op.Body.Multipart == "" {
		return nil
	}
	names := make(map[string]any, len(parts))
	for name := range parts {
		names[name] = nil
	}
	return c.nameUnknown(c.Op.Body.Multipart, names, "")
}
