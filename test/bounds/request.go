package bounds

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"quarry/internal/api"
)

// Request is a minimal request that an operation takes; ${corpus} stands for the key of a corpus with one document,
// ${n} for a number of its own, ${provider} for the address of a provider of language models, ${chat} for the id of a chat
// over that corpus, ${turn} for that of its first turn, ${agent} for the key of an agent and ${session} for that of a new session
// with it, ${event} for the id of an event there, and ${instruction} for the id of a new instruction.
type Request struct {
	Fresh  bool              `yaml:"fresh"` // it destroys its corpus: each case gets its own
	Path   map[string]string `yaml:"path"`
	Query  map[string]any    `yaml:"query"`
	Header map[string]string `yaml:"header"`
	Body   any               `yaml:"body"`
	Form   map[string]any    `yaml:"form"`
}

// Requests is testdata/requests.yaml.
type Requests struct {
	Operations map[string]Request `yaml:"operations"`
	// Plants are what a request needs where a bound is inside something optional: by the last step of a place
	// (corpora[], <mmr>), the value that makes this step valid.
	Plants map[string]any `yaml:"plants"`
	// Elsewhere are parts of "OPERATION PLACE" whose bounds say nothing alone: what is not built is refused, and a name has to
	// be that of something else in the request. Scenarios prove them.
	Elsewhere []string `yaml:"elsewhere"`
	// Texts are the beginnings of texts that must mean something, by the last member of a place, and what they are
	// filled up with.
	Texts map[string]struct {
		Before, Pad string
	} `yaml:"texts"`
	// OutsideOnly has, by operation and place, the reason why values inside the bound are refused for another reason.
	OutsideOnly map[string]string `yaml:"outside_only"`
	// Narrower are bounds that hold instead of wider ones of the schemas, by operation, place and keyword.
	Narrower map[string]any `yaml:"narrower"`
	// Further are bounds that digests state and schemas don't.
	Further []Further `yaml:"further"`
}

// Further is a bound beside those of the schemas.
type Further struct {
	Call    string  `yaml:"call"`
	Place   string  `yaml:"place"`
	Field   string  `yaml:"field"`  // where field_errors name another place
	Status  int     `yaml:"status"` // of values outside; default 400
	Inside  []Value `yaml:"inside"`
	Outside []Value `yaml:"outside"`
}

// Value is what a case sends: as it is, or a text or list made of a repetition.
type Value struct {
	Is     any    `yaml:"is"`
	Before string `yaml:"before"`
	Repeat string `yaml:"repeat"`
	Times  int    `yaml:"times"`
	After  string `yaml:"after"`
	Items  int    `yaml:"items"` // a list of that many plants of the place
}

// make is the value itself.
func (v Value) make(item func(n int) any) any {
	switch {
	case v.Items > 0:
		out := make([]any, v.Items)
		for i := range out {
			out[i] = item(i)
		}
		return out
	case v.Repeat != "":
		return v.Before + strings.Repeat(v.Repeat, v.Times) + v.After
	}
	return v.Is
}

// ReadRequests reads the file; a member that does not exist is an error.
func ReadRequests(raw []byte) (*Requests, error) {
	var r Requests
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	return &r, d.Decode(&r)
}

// Alone reports whether the bounds of a place can be proved by themselves.
func (r *Requests) Alone(operation, place string) bool {
	return !slices.ContainsFunc(r.Elsewhere, func(part string) bool { return strings.Contains(operation+" "+place, part) })
}

// Put returns the request of an operation with value at place; what is missing on the way there is planted.
func (r *Requests) Put(operation, place string, value any) (Request, error) {
	base, ok := r.Operations[operation]
	if !ok {
		return Request{}, fmt.Errorf("operation %s is built and has no request in testdata/requests.yaml", operation)
	}
	var req Request
	copyOf(base, &req)
	root, rest, _ := strings.Cut(place, ".")
	switch {
	case root == "query":
		name, array := strings.CutSuffix(rest, "[]")
		if list, ok := value.([]any); ok || array && ok {
			value = list
		}
		set(&req.Query, name, value)
	case root == "path":
		set(&req.Path, rest, fmt.Sprint(value))
	case root == "header":
		set(&req.Header, rest, fmt.Sprint(value))
	case root == "form":
		holder := any(req.Form)
		if err := r.put(&holder, steps(rest), value); err != nil {
			return req, fmt.Errorf("%s at %s: %w", operation, place, err)
		}
		req.Form = holder.(object)
	default:
		if err := r.put(&req.Body, steps(strings.TrimPrefix(place, "body")), value); err != nil {
			return req, fmt.Errorf("%s at %s: %w", operation, place, err)
		}
	}
	return req, nil
}

func set[V any](m *map[string]V, name string, v V) {
	if *m == nil {
		*m = map[string]V{}
	}
	(*m)[name] = v
}

// steps cuts a place into .member, [] and <variant>.
func steps(place string) []string {
	var out []string
	for place != "" {
		end := strings.IndexAny(place[1:], ".[<") + 1
		if end == 0 {
			end = len(place)
		}
		out = append(out, strings.TrimPrefix(place[:end], "."))
		place = place[end:]
	}
	return out
}

// put walks the steps from the value at hand, which it may replace.
func (r *Requests) put(at *any, way []string, value any) error {
	if len(way) == 0 {
		*at = value
		return nil
	}
	step, rest := way[0], way[1:]
	switch {
	case step == "[]":
		l, _ := (*at).([]any)
		if len(l) == 0 {
			return fmt.Errorf("no item for a list; give plants one")
		}
		return r.put(&l[0], rest, value)
	case step[0] == '<':
		v, ok := r.Plants[step]
		if !ok {
			return fmt.Errorf("plants need %s", step)
		}
		copyOf(v, at)
		return r.put(at, rest, value)
	}
	o, ok := (*at).(object)
	if !ok {
		o = object{}
		*at = o
	}
	inner := o[step]
	if l, _ := inner.([]any); len(l) == 0 && len(rest) > 0 && rest[0] == "[]" {
		v, ok := r.Plants[step+"[]"]
		if !ok {
			return fmt.Errorf("plants need %s[]", step)
		}
		var one any
		copyOf(v, &one)
		inner = []any{one}
	}
	if len(rest) > 0 {
		if v, ok := r.Plants[step]; ok && inner == nil { // an object that has to have other members, too
			copyOf(v, &inner)
		}
		if v, ok := r.Plants[step+rest[0]]; ok && rest[0][0] == '<' { // a variant of this member alone
			copyOf(v, &inner)
			rest = rest[1:]
		}
	}
	err := r.put(&inner, rest, value)
	o[step] = inner
	return err
}

// copyOf copies by way of YAML, so that cases share nothing.
func copyOf(from, to any) {
	raw, err := yaml.Marshal(from)
	if err == nil {
		err = yaml.Unmarshal(raw, to)
	}
	if err != nil {
		panic(err) // it came from YAML
	}
}

// HTTP builds the request; names puts values where their names stand.
func (q Request) HTTP(operation string, names *strings.Replacer) (*http.Request, error) {
	op := api.OperationByID(operation)
	path := op.Path
	for name, v := range q.Path {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(names.Replace(v)))
	}
	if values := q.values(names); len(values) > 0 {
		path += "?" + values.Encode()
	}
	body, kind, err := q.payload(names)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequest(op.Method, path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, v := range q.Header {
		req.Header.Set(name, v)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	return req, nil
}

func (q Request) values(names *strings.Replacer) url.Values {
	out := url.Values{}
	for name, v := range q.Query {
		all, ok := v.([]any)
		if !ok {
			all = []any{v}
		}
		for _, one := range all {
			if n, ok := one.(float64); ok {
				one = json.Number(fmt.Sprintf("%.0f", n))
			}
			out.Add(name, names.Replace(fmt.Sprint(one)))
		}
	}
	return out
}

func (q Request) payload(names *strings.Replacer) (body []byte, kind string, err error) {
	switch {
	case len(q.Form) > 0:
		return q.form()
	case q.Body != nil:
		body, err = json.Marshal(q.Body)
		return []byte(names.Replace(string(body))), "application/json", err
	}
	return nil, "", nil
}

// form writes the text at file as the file, and the rest as JSON.
func (q Request) form() ([]byte, string, error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, v := range q.Form {
		text, ok := v.(string)
		head := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf("form-data; name=%q", name)}}
		if name == "file" {
			head.Set("Content-Disposition", `form-data; name="file"; filename="a.html"`)
		}
		if !ok {
			raw, err := json.Marshal(v)
			if err != nil {
				return nil, "", err
			}
			text = string(raw)
			head.Set("Content-Type", "application/json")
		}
		part, err := w.CreatePart(head)
		if err == nil {
			_, err = part.Write([]byte(text))
		}
		if err != nil {
			return nil, "", err
		}
	}
	err := w.Close()
	return b.Bytes(), w.FormDataContentType(), err
}

// filler writes texts for a place; item, list items.
func (r *Requests) filler(b Bound) func(n int) string {
	t, ok := r.Texts[last(b.Place)]
	if !ok {
		return b.Plain
	}
	return func(n int) string { return (t.Before + strings.Repeat(t.Pad, n))[:n] }
}

func (r *Requests) item(place string) func(n int) any {
	return func(n int) any {
		var out any
		copyOf(r.Plants[last(place)+"[]"], &out)
		if o, ok := out.(object); ok && o["name"] == "${i}" { // names that must differ
			o["name"] = fmt.Sprint("n", n)
		}
		if out == "${i}" {
			return fmt.Sprint("n", n)
		}
		return out
	}
}

// last is the last member of a place.
func last(place string) string { return place[strings.LastIndexByte(place, '.')+1:] }
