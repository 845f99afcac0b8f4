package index

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"quarry/internal/cli/command"
	"quarry/internal/extract"
	"quarry/internal/folder/source"
	"quarry/internal/text/fuzzy"
)

// target is the corpus that is indexed into.
type target struct {
	Key     string `json:"key"`
	ID      string `json:"id"`
	Enabled bool   `json:"enabled"`
	missing bool   // it would be made, were this no dry run
}

// key returns the key of the corpus, and where it comes from unless that is plain.
func (c *Cmd) key(roots []source.Root) (key, from string, err error) {
	switch {
	case c.Corpus != "":
		return c.Corpus, "", nil
	case len(roots) > 1:
		return "", "", command.Failed(command.ExitUsage, "%d places are given, which have no name in common: name the corpus with --corpus KEY", len(roots))
	}
	name := filepath.Base(roots[0].Path)
	if key, err = roots[0].CorpusKey(); err != nil {
		return "", "", command.Failed(command.ExitUsage, "%v", err)
	}
	if key != name {
		from = fmt.Sprintf(", from the name %q", name)
	}
	return key, from, nil
}

// choose finds the corpus, or makes it if its key comes from the folder's name or --create asks for it, and prints which.
func (c *Cmd) choose(e *command.Env, cl *command.Client, roots []source.Root) (target, error) {
	key, from, err := c.key(roots)
	if err != nil {
		return target{}, err
	}
	var found target
	_, err = cl.Call(e.Ctx, http.MethodGet, "/v2/corpora/"+command.Segment(key), nil, &found)
	switch {
	case err == nil && !found.Enabled:
		return found, command.Failed(command.ExitSomeFailed, "corpus %s is disabled and takes no documents", key)
	case err == nil:
		if from != "" {
			fmt.Fprintf(e.Err, "corpus %s%s\n", key, from)
		}
		return found, nil
	case command.Status(err) != http.StatusNotFound:
		return found, named(err)
	case c.Corpus != "" && !c.Create:
		return found, c.unknown(e, cl)
	case !c.Watch && !c.anything(e, roots):
		return found, c.empty()
	case c.DryRun:
		fmt.Fprintf(e.Err, "corpus %s%s: would be created\n", key, from)
		return target{Key: key, missing: true}, nil
	}
	if _, err := cl.Call(e.Ctx, http.MethodPost, "/v2/corpora", map[string]any{"key": key}, &found); err != nil {
		return found, named(err)
	}
	fmt.Fprintf(e.Err, "created corpus %s%s\n", key, from)
	return found, nil
}

// errEnough ends a search for files.
var errEnough = errors.New("enough")

// anything reports whether there is something to index or to complain of: no corpus is made for nothing.
func (c *Cmd) anything(e *command.Env, roots []source.Root) bool {
	finder, err := source.New(c.find())
	if err != nil {
		return true
	}
	defer finder.Close()
	for _, r := range roots {
		found, err := finder.Find(e.Ctx, r, func(source.Item) error { return errEnough })
		if err != nil || len(found.Problems) > 0 {
			return true
		}
	}
	return false
}

// empty returns the error of a run that finds nothing.
func (c *Cmd) empty() error {
	var kinds []string
	for _, k := range extract.Textuals() {
		kinds = append(kinds, k.Name)
	}
	return command.Failed(command.ExitUsage, "there is no file to index in %s: read by default are %s and as plain text %s; --include reads more",
		strings.Join(c.Places, ", "), strings.Join(extract.Endings(), " "), strings.Join(kinds, ", "))
}

// named returns a refusal of the key with the name of the flag.
func named(err error) error {
	if r, ok := command.AsRefused(err); ok {
		for at, why := range r.Fields {
			if strings.HasSuffix(at, "key") {
				return command.Failed(command.ExitUsage, "--corpus %s", why)
			}
		}
	}
	return err
}

// unknown returns the error for a key that names no corpus, with the one that may be meant.
func (c *Cmd) unknown(e *command.Env, cl *command.Client) error {
	text := fmt.Sprintf("there is no corpus %s", c.Corpus)
	var keys []string
	err := cl.Pages(e.Ctx, "/v2/corpora", "corpora", url.Values{}, func(all []json.RawMessage) error {
		for _, raw := range all {
			var t target
			if err := json.Unmarshal(raw, &t); err != nil {
				return err
			}
			keys = append(keys, t.Key)
		}
		return nil
	})
	if errors.Is(err, e.Ctx.Err()) && err != nil {
		return err
	}
	if near := fuzzy.Nearest(c.Corpus, keys); near != "" {
		return command.Failed(command.ExitUsage, "%s; did you mean %s? Add --create to make it", text, near)
	}
	return command.Failed(command.ExitUsage, "%s; add --create to make it", text)
}
