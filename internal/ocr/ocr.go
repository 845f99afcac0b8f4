// Package ocr recognises text in pictures with tesseract, a program of its own that people install beside the service, and has pages of PDF
// files that nothing here decodes drawn by pdftoppm, one of poppler. Both are looked for once. They get a picture or a file on their
// standard input and answer on their standard output; they have no environment to speak of, a limit of time and of memory, and
// end with the request that they work for, and with the service.
package ocr

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Config is how text is recognised.
type Config struct {
	// Tesseract is the program, by its path or its name in PATH.
	Tesseract string
	// Languages are those that texts may be in, by their names in tesseract: eng, deu, script/Latin.
	Languages []string
	// Time is how long one page may take.
	Time time.Duration
}

// Program recognises text in pictures. Safe for concurrent use.
type Program struct {
	tesseract, poppler string // paths; poppler is empty where there is no pdftoppm
	version            string
	languages          []string
	limit              time.Duration

	life context.Context // of the processes; ends with Close
	end  context.CancelCauseFunc
}

// Absent means that there is nothing to recognise text with: what is missing, and the setting that names it.
type Absent struct{ Setting, Reason string }

func (a *Absent) Error() string { return a.Reason }

// patience is how long a program may take to say who it is.
const patience = 20 * time.Second

// Find looks for the programs. Its error is *Absent where there is no tesseract, or none that knows the languages.
func Find(ctx context.Context, c Config) (*Program, error) {
	p := &Program{languages: c.Languages, limit: c.Time}
	var err error
	if p.tesseract, err = look(c.Tesseract); err != nil {
		return nil, &Absent{"tesseract", fmt.Sprintf("%s, the program that recognises text, was not found (%s); install it (Debian and Ubuntu: apt-get install tesseract-ocr; macOS: brew install tesseract), "+
			"or name it in the setting tesseract, and start the service again", c.Tesseract, reason(err))}
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if p.version, err = version(ctx, p.tesseract); err != nil {
		return nil, &Absent{"tesseract", fmt.Sprintf("%s, which recognises text, does not work: %v; mend it, or name another in the setting tesseract, and start the service again", p.tesseract, err)}
	}
	known, err := languages(ctx, p.tesseract)
	if err != nil {
		return nil, &Absent{"tesseract", fmt.Sprintf("%s, which recognises text, does not say which languages it knows: %v", p.tesseract, err)}
	}
	for _, l := range c.Languages {
		if !slices.Contains(known, l) {
			return nil, &Absent{"ocr_languages", fmt.Sprintf("%s, which recognises text, has no data for the language %q of the setting ocr_languages, only for %s; install them (Debian and Ubuntu: apt-get install tesseract-ocr-%s) "+
				"or change the setting, and start the service again", p.tesseract, l, strings.Join(known, ", "), strings.ToLower(strings.ReplaceAll(l, "_", "-")))}
		}
	}
	p.poppler, _ = look("pdftoppm") // without it pages whose pictures are JBIG2 or JPEG 2000 are not read
	p.life, p.end = context.WithCancelCause(context.WithoutCancel(ctx))
	return p, nil
}

// look returns the absolute path of a program, since processes are not started where the service was.
func look(name string) (string, error) {
	path, err := exec.LookPath(name)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path)
}

// reason returns why a program was not found.
func reason(err error) string {
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return "it is not in PATH"
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	}
	return err.Error()
}

// version returns which tesseract it is.
func version(ctx context.Context, tesseract string) (string, error) {
	out, err := ask(ctx, tesseract, "--version")
	if err != nil {
		return "", err
	}
	line, _, _ := strings.Cut(out, "\n")
	number, ok := strings.CutPrefix(strings.TrimSpace(line), "tesseract ")
	if !ok {
		return "", fmt.Errorf("it calls itself %.60q", line)
	}
	return number, nil
}

// languages returns the languages that tesseract has data of, behind a line of its own.
func languages(ctx context.Context, tesseract string) (all []string, err error) {
	out, err := ask(ctx, tesseract, "--list-langs")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(out) {
		if line = strings.TrimSpace(line); Language(line) {
			all = append(all, line)
		}
	}
	return all, nil
}

// language is the form of the names of languages in tesseract.
var language = regexp.MustCompile(`^[A-Za-z0-9_]+(/[A-Za-z0-9_]+)?$`)

// Language reports whether a text may be the name of a language in tesseract.
func Language(name string) bool { return language.MatchString(name) }

// String returns what recognises text, in which languages, and what it can't read.
func (p *Program) String() string {
	s := fmt.Sprintf("tesseract %s, languages %s", p.version, strings.Join(p.languages, ", "))
	if p.poppler == "" {
		s += "; no pdftoppm (poppler-utils), so that scans in JBIG2 and JPEG 2000 are not read"
	}
	return s
}

// Close ends the processes that are at work.
func (p *Program) Close() { p.end(errClosed) }
