package fault

import "strings"

// Names maps fields of a command to those of the wire, where the two differ. A name stands for everything below it:
// {"rights": "corpus_roles"} renames rights[0].role, too.
type Names map[string]string

// Under returns err with place, such as "body" or "query.filter", in front of every field path, after names have been
// applied. A field path says where a value stands in what a function was given; only its caller knows where that
// stood. The path "" is the place itself. Other errors are returned unchanged, and a fault is copied, never changed.
func Under(err error, place string, names ...Names) error {
	f, ok := As(err)
	if !ok || len(f.Fields) == 0 {
		return err
	}
	out := *f
	if err != error(f) {
		out.cause = err
	}
	out.Fields = make(map[string]string, len(f.Fields))
	for path, reason := range f.Fields {
		for _, n := range names {
			path = n.rename(path)
		}
		out.Fields[Join(place, path)] = reason
	}
	return &out
}

// Join returns the path of a field inside a place: "body" and "name" make body.name, "list" and "[2].id" list[2].id.
func Join(place, path string) string {
	if place == "" || path == "" || path[0] == '[' {
		return place + path
	}
	return place + "." + path
}

// rename replaces the longest beginning of path that n knows.
func (n Names) rename(path string) string {
	for end := len(path); end > 0; end = strings.LastIndexAny(path[:end], ".[") {
		if to, ok := n[path[:end]]; ok {
			return to + path[end:]
		}
	}
	return path
}
