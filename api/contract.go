// Package contract holds the wire contract of Quarry, openapi.yaml, as the server returns it for GET /openapi.yaml. The
// file is the source: the program in gen generates internal/api from it, and the server works from that.
package contract

import _ "embed"

// YAML is openapi.yaml as it was when the binary was built. Callers must not modify it.
//
//go:embed openapi.yaml
var YAML []byte
