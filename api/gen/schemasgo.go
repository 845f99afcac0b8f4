package main

// schemasGo is the source of schemas.gen.go, which has the comment of the generated package.
const schemasGo = header + `// Package api is the wire contract in Go, generated from api/openapi.yaml and
// nothing else: models for requests and responses, the table of operations,
// and the schemas that requests are checked with. It holds no logic. It is for
// the HTTP handlers and tests; the domain has types of its own.
//
// Schemas maps names to JSON Schemas (2020-12):
//
//	Corpus                     a component schema of the contract
//	param:RequestTimeout       a parameter that several operations share
//	param:listJobs:state       a parameter of one operation
//
// A schema refers to another by SchemaURL of its name, so each one is added
// to a compiler under that address. What differs from the contract's text:
// null is a type of its own where the contract says nullable; a union with a
// discriminator is a list of if/then, one per value, with the default value
// applied where the contract has one; int32 and int64 are bounds. Of the
// formats only date-time, email and uri are kept. An array parameter's schema
// is that of the whole array. What holds a secret (x-secret) is writeOnly.
package api

import _ "embed"

// Schemas is a JSON object: schema name → JSON Schema document. Callers must
// not modify it.
//
//go:embed schemas.gen.json
var Schemas []byte

// SchemaURL returns the address of the named schema, as references within
// Schemas spell it.
func SchemaURL(name string) string { return "schema:" + name }
`
