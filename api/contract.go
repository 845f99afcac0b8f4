// Package contract holds the wire contract of Quarry, openapi.yaml, as the
// binary serves it. The file is the source: internal/api is generated from it
// by the program in gen. The package is not for reading the contract at run
// time beyond handing it out; the server works from the generated tables. It
// is called by the server for GET /openapi.yaml and by tests that judge
// responses.
package contract

import _ "embed"

// YAML is openapi.yaml as it was when the binary was built. Callers must not
// modify it.
//
//go:embed openapi.yaml
var YAML []byte
