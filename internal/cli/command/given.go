package command

import (
	"encoding/json"
	"os"
	"strings"
)

// Text returns the value of a flag that is a text or, behind @, the name of the file that has it. what names the text in messages,
// such as "the template".
func Text(what, value string) (string, error) {
	name, ok := strings.CutPrefix(value, "@")
	if !ok {
		return value, nil
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		return "", Failed(ExitUsage, "can't read %s: %v", what, err)
	}
	return string(raw), nil
}

// Object returns the value of a flag that is a JSON object, or a file with one as for Text. An empty value is an empty object.
func Object(flag, value string) (map[string]json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	text, err := Text("the value of "+flag, value)
	if err != nil || text == "" {
		return out, err
	}
	if err := json.Unmarshal([]byte(text), &out); err != nil || out == nil {
		return nil, Failed(ExitUsage, `%s must be a JSON object such as '{"year":2024}'`, flag)
	}
	return out, nil
}
