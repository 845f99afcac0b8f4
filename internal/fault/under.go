package fault

import "strings"

// Names maps fields of a command to those of the wire format, where the two differ. A name covers everything below it:
// {"rights": "corpus_roles"} renames rights[0].role, too.
type Names map[string]string

// Under returns err with place, such as "body" or "query.filter", in front of every field path, after names have been
// applied. Field paths are relative to the argument of the function that returns the fault; only its caller knows where in
// the request that argument was. The path "" is the place itself. A fault is copied, not modified; other errors are
// returned unchanged.
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

// Join returns the path of a field inside a place: body.name for "body" and "name", list[2].id for "list" and "[2].id".
func Join(place, path string) string {
	if place == "" || path == "" || path[0] == '[' {
		return place + path
	}
	return place + "." + path
}

// rename replaces the longest prefix of path that is in n.
func (n Names) rename(path string) string {
	for end := len(path); end > 0; end = strings.LastIndexAny(path[:end], ".[") {
		if to, ok := n[path[:end]]; ok {
			return to + path[end:]
		}
	}
	return path
}
