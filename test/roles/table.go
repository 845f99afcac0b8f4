// Package roles holds every operation of the contract to its role table, through the whole service: real users, keys
// and clients ask, the service's own chain answers. It is called by its own test.
package roles

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Row is the contract's rule for one operation. It is read from the file itself, not from what is generated from
// it, so that a mistake of the generator shows.
type Row struct {
	ID, Method, Path string
	Public           bool
	API, Corpus      []string // roles that may use it
	Agent            []string
	Personal         bool   // of API keys only personal ones are taken
	OpenTo           string // callers or people, who need no role
}

// Table reads x-required-roles of every operation.
func Table(contract []byte) ([]Row, error) {
	var doc struct {
		Paths map[string]map[string]struct {
			ID       string      `yaml:"operationId"`
			Security *[]struct{} `yaml:"security"`
			Roles    []struct {
				Type  string   `yaml:"type"`
				Roles []string `yaml:"roles"`
			} `yaml:"x-required-roles"`
			OpenTo string   `yaml:"x-open-to"`
			Keys   []string `yaml:"x-supported-api-key-type"`
		} `yaml:"paths"`
	}
	if err := yaml.Unmarshal(contract, &doc); err != nil {
		return nil, fmt.Errorf("read contract: %w", err)
	}
	var out []Row
	for path, item := range doc.Paths {
		for method, op := range item {
			r := Row{ID: op.ID, Method: strings.ToUpper(method), Path: path, Public: op.Security != nil && len(*op.Security) == 0, Personal: len(op.Keys) > 0, OpenTo: op.OpenTo}
			for _, l := range op.Roles {
				switch l.Type {
				case "ApiRole":
					r.API = l.Roles
				case "CorpusRole":
					r.Corpus = l.Roles
				case "AgentRole":
					r.Agent = l.Roles
				}
			}
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b Row) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// Holder is a caller with at most one kind of role, as the walk creates them.
type Holder struct {
	API    string // an API role
	Corpus string // a role on the corpus Key
	Key    string
	RawKey bool // by an API key with roles of its own
	Person bool // by a personal key or a sign-in
}

// Open reports whether the chain must let the holder in on the corpus named. Where a request names its corpora
// elsewhere than in the path, a listed role on any corpus lets it in, and the handler decides.
func (r Row) Open(h Holder, corpus string) bool {
	switch {
	case r.Public, r.OpenTo == "callers", r.OpenTo == "people" && h.Person:
		return true
	case r.Personal && h.RawKey:
		return false
	case h.API != "":
		return slices.Contains(r.API, h.API)
	case h.Corpus != "":
		named := strings.Contains(r.Path, "{corpus_key}")
		return slices.Contains(r.Corpus, h.Corpus) && (!named || h.Key == corpus)
	}
	return false
}

// URL is the path with corpus in the place of its corpus key and a name that fits in that of every other parameter.
func (r Row) URL(corpus string) string {
	segments := strings.Split(r.Path, "/")
	for i, s := range segments {
		switch {
		case s == "{corpus_key}":
			segments[i] = corpus
		case strings.HasPrefix(s, "{"):
			segments[i] = "nothing"
		}
	}
	return strings.Join(segments, "/")
}
