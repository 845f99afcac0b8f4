// Package own measures answers on questions of our own over documents that nobody here wrote: manual pages, API pages and
// texts of packages, which package clients fetch. README.md describes the data and who may look at which half of it.
package own

import (
	"crypto/sha256"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Set is the packages of one client with the questions over their documents. All its documents make one corpus.
type Set struct {
	Name      string `json:"-"` // of its folder, and the key of its corpus
	Client    string
	Packages  []Package
	Questions []Question `json:"-"`
}

// Package is one version of a package, and which of its files are documents.
type Package struct {
	Name, Version, SHA256, Licence string
	Source                         bool // a source package of Python, not a wheel
	Files                          []File
}

// File is a file of a package that is a document of the corpus.
type File struct {
	Path string // in the package; one that ends in .gz is unpacked
	Name string // under which it is uploaded, and its document's id
	As   string // "": as it is; "man": a manual page, rendered as text; "readme": what follows the head of a wheel's METADATA
}

// Question is a question as a reader asks it. Expect is a regular expression, blind to case, that the sentence that answers
// matches; None marks a question whose subject the document has and whose answer the corpus lacks.
type Question struct {
	ID, Kind, Question, Document, Expect string
	None                                 bool

	expect *regexp.Regexp
}

// Unseen reports whether the question belongs to the half that nobody looks at while tuning.
func (q Question) Unseen() bool { return sha256.Sum256([]byte(q.Question))[0]&1 == 1 }

// Answers reports whether the sentence has the expected value.
func (q Question) Answers(sentence string) bool {
	return !q.None && q.expect.MatchString(fold(sentence))
}

// broken is a hyphen at the end of a line of a manual page.
var broken = regexp.MustCompile("\u2010\\s+")

// fold writes a text on one line, with words whole and single spaces.
func fold(text string) string {
	text = strings.NewReplacer("\u2019", "'", "\u2018", "'", "\u201c", `"`, "\u201d", `"`).Replace(broken.ReplaceAllString(text, ""))
	return strings.Join(strings.Fields(text), " ")
}

//go:embed sets
var stored embed.FS

// kinds are the types of questions.
var kinds = []string{"when", "count", "amount", "who", "where", "default", "how", "yesno", "what", "free"}

// clients are the package clients that fetch documents.
var clients = []string{"apt", "npm", "pip"}

// Sets returns the sets in the order of their names, checked as far as that goes without their documents.
func Sets() ([]Set, error) {
	folders, err := stored.ReadDir("sets")
	if err != nil {
		return nil, err
	}
	var sets []Set
	for _, f := range folders {
		s, err := read(f.Name())
		if err != nil {
			return nil, err
		}
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("set %s:\n%w", s.Name, err)
		}
		sets = append(sets, s)
	}
	return sets, nil
}

func read(name string) (s Set, err error) {
	s.Name = name
	raw, err := stored.ReadFile(path.Join("sets", name, "packages.json"))
	if err == nil {
		err = strict(raw, &s)
	}
	if err != nil {
		return s, fmt.Errorf("set %s: packages.json: %w", name, err)
	}
	raw, err = stored.ReadFile(path.Join("sets", name, "questions.jsonl"))
	if err != nil {
		return s, err
	}
	for i, line := range strings.Split(strings.TrimSpace(string(raw)), "\n") {
		var q Question
		if err := strict([]byte(line), &q); err != nil {
			return s, fmt.Errorf("set %s: questions.jsonl: line %d: %w", name, i+1, err)
		}
		s.Questions = append(s.Questions, q)
	}
	return s, nil
}

// strict reads JSON without unknown members, which would be misspelt ones.
func strict(raw []byte, v any) error {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// check checks the set without its documents and prepares its questions.
func (s *Set) check() error {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if !slices.Contains(clients, s.Client) {
		fail("client %q: is none of %v", s.Client, clients)
	}
	names := map[string]bool{}
	for _, p := range s.Packages {
		if p.Name == "" || p.Version == "" || p.Licence == "" || len(p.SHA256) != 2*sha256.Size || len(p.Files) == 0 {
			fail("package %q: name, version, sha256, licence and files are needed", p.Name)
		}
		for _, f := range p.Files {
			if names[f.Name] || f.Name == "" || path.Base(f.Name) != f.Name {
				fail("package %s: file name %q: must be unique in the set and have no slash", p.Name, f.Name)
			}
			if f.As != "" && f.As != "man" && f.As != "readme" {
				fail("package %s: %s: as %q: is unknown", p.Name, f.Name, f.As)
			}
			names[f.Name] = true
		}
	}
	ids, texts := map[string]bool{}, map[string]bool{}
	for i := range s.Questions {
		q := &s.Questions[i]
		var err error
		if q.expect, err = regexp.Compile("(?i)" + q.Expect); err != nil {
			fail("%s: expect: %w", q.ID, err)
		}
		switch {
		case !strings.HasPrefix(q.ID, s.Name+"-") || ids[q.ID]:
			fail("%s: ids are unique and begin with the name of the set", q.ID)
		case q.Question == "" || texts[q.Question]:
			fail("%s: the question is missing or asked twice", q.ID)
		case !slices.Contains(kinds, q.Kind):
			fail("%s: kind %q: is none of %v", q.ID, q.Kind, kinds)
		case !names[q.Document]:
			fail("%s: document %q: is no file of the set", q.ID, q.Document)
		case q.None != (q.Expect == ""):
			fail("%s: either expect or none: true", q.ID)
		}
		ids[q.ID], texts[q.Question] = true, true
	}
	return errors.Join(errs...)
}
