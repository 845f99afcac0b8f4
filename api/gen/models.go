package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// codegenConfig is the configuration of oapi-codegen. nullable-type marks the members in which absent and null differ.
const codegenConfig = `package: api
generate:
  models: true
output-options:
  nullable-type: true
  skip-prune: true
`

// codegenInput is the part of the contract that oapi-codegen reads, as JSON: the schemas of these names and those that
// they refer to, in the form that the models have.
func codegenInput(text []byte, names []string) ([]byte, error) {
	c, err := parse(text)
	if err != nil {
		return nil, err
	}
	kept := object{}
	for _, name := range names {
		if c.schemas[name] == nil {
			return nil, fmt.Errorf("%s lists %s, which is no schema of the contract", modelList, name)
		}
		c.keep(name, kept)
	}
	return json.Marshal(object{
		"openapi": c.doc["openapi"], "info": object{"title": "Quarry", "version": "2"}, "paths": object{},
		"components": object{"schemas": kept},
	})
}

// keep adds the named schema to kept, and those that it refers to.
func (c *contract) keep(name string, kept object) {
	if kept[name] == nil {
		kept[name] = true // ends recursion
		kept[name] = c.model(obj(c.schemas[name]), kept)
	}
}

// model returns s as the models have it. Free JSON and unions are raw: a map would lose the text of numbers, and of a
// union only who reads it knows which branch it needs. An e-mail address is a string, whose form the schemas check.
func (c *contract) model(s, kept object) object {
	switch {
	case refName(s) != "":
		c.keep(refName(s), kept)
		return s
	case s["oneOf"] != nil, s["anyOf"] != nil, isFree(s):
		return object{"description": str(s["description"]), "x-go-type": "json.RawMessage", "x-go-type-skip-optional-pointer": true}
	}
	out := maps.Clone(s)
	delete(out, "discriminator")
	if len(list(s["enum"])) == 1 && s["default"] != nil {
		delete(out, "enum") // what it is follows from the union that led here; a type of one value is in the way
	}
	if s["format"] == "email" {
		delete(out, "format")
	}
	for _, member := range []string{"items", "additionalProperties"} {
		if inner := obj(s[member]); inner != nil {
			out[member] = c.model(inner, kept)
		}
	}
	if all := list(s["allOf"]); all != nil {
		parts := make([]any, len(all))
		for i, part := range all {
			parts[i] = c.model(obj(part), kept)
		}
		out["allOf"] = parts
	}
	if properties := obj(s["properties"]); properties != nil {
		members := object{}
		for name, p := range properties {
			members[name] = c.model(obj(p), kept)
		}
		out["properties"] = members
	}
	return out
}

// isFree reports whether a schema takes any JSON, or any JSON object.
func isFree(s object) bool {
	if s["properties"] != nil || s["allOf"] != nil || len(obj(s["additionalProperties"])) > 0 {
		return false
	}
	return s["type"] == nil && s["enum"] == nil || s["type"] == "object"
}

// models returns the source of models.gen.go: the tool's output under a header with two digests, of its input and of
// itself. They let a test check that the file is current and unedited without running the tool, which takes a minute to
// build.
func models(root string, text []byte) ([]byte, error) {
	names, err := listedModels(root)
	if err != nil {
		return nil, err
	}
	input, err := codegenInput(text, names)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "quarry-gen")
	if err != nil {
		return nil, fmt.Errorf("make folder for the model generator: %w", err)
	}
	defer os.RemoveAll(dir)
	config, spec := filepath.Join(dir, "config.yaml"), filepath.Join(dir, "openapi.json")
	if err := os.WriteFile(config, []byte(codegenConfig), 0o600); err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	if err := os.WriteFile(spec, input, 0o600); err != nil {
		return nil, fmt.Errorf("write input: %w", err)
	}
	cmd := exec.Command("go", "tool", "-modfile="+filepath.Join("tools", "go.mod"), "oapi-codegen", "-config", config, spec)
	cmd.Dir = root
	var out, fault bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &fault
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("run oapi-codegen: %w\n%s", err, fault.Bytes())
	}
	body, err := house(out.Bytes())
	if err != nil {
		return nil, err
	}
	return stamp(input, body), nil
}

// house returns what the tool wrote as package api has it: without the package comment, which stands in
// schemas.gen.go, and with package opt for members that can be absent, null or a value.
func house(source []byte) ([]byte, error) {
	const clause = "\npackage api\n"
	i := bytes.Index(source, []byte(clause))
	if i < 0 {
		return nil, errors.New("output of oapi-codegen has no package clause")
	}
	lines := strings.SplitAfter(string(source[i:]), "\n")
	for i, line := range lines {
		if was := strings.Replace(line, "nullable.Nullable[", "opt.Field[", 1); was != line {
			lines[i] = strings.Replace(was, ",omitempty", ",omitzero", 1)
		}
	}
	body := "// Code generated by oapi-codegen from api/openapi.yaml. DO NOT EDIT.\n" + strings.Join(lines, "")
	return format.Source([]byte(strings.Replace(body, `"github.com/oapi-codegen/nullable"`, `"quarry/internal/opt"`, 1)))
}

// stamp returns body after the digests of input and body.
func stamp(input, body []byte) []byte {
	return append(stampLines(input, body), body...)
}

func stampLines(input, body []byte) []byte {
	made := sha256.New()
	made.Write([]byte(codegenConfig))
	made.Write(input)
	own := sha256.Sum256(body)
	return fmt.Appendf(nil, "// made from %s\n// body %s\n\n", hex.EncodeToString(made.Sum(nil)), hex.EncodeToString(own[:]))
}
