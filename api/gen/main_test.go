// The tests are inside the package because a command cannot be imported.
package main

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const root = "../.."

func contractText(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "api", "openapi.yaml"))
	if err != nil {
		t.Fatalf("read contract: %v", err)
	}
	return text
}

func TestGeneratedTablesAreCurrent(t *testing.T) {
	// Proves that the committed operations and schemas are what the contract yields now.
	t.Parallel()
	files, err := tables(contractText(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := compare(filepath.Join(root, outDir), files); err != nil {
		t.Error(err)
	}
}

func TestGeneratedModelsAreCurrent(t *testing.T) {
	// Proves that the committed models were made from the contract as it is now and were not
	// edited afterwards, by their digests; -check runs the model generator itself.
	t.Parallel()
	input, err := codegenInput(contractText(t))
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(filepath.Join(root, outDir, "models.gen.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, body, found := bytes.Cut(have, []byte("\n\n"))
	if !found || !bytes.Equal(stamp(input, body), have) {
		t.Error("models.gen.go is not current: run make generate")
	}
}

func TestCompareNamesStaleFiles(t *testing.T) {
	// Proves that a file that differs or is missing is named, and one that agrees is not.
	t.Parallel()
	dir := t.TempDir()
	for name, body := range map[string]string{"a.go": "a", "b.go": "old"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err := compare(dir, map[string][]byte{"a.go": []byte("a"), "b.go": []byte("b"), "c.go": []byte("c")})
	if err == nil || strings.Contains(err.Error(), "a.go") || !strings.Contains(err.Error(), "b.go") || !strings.Contains(err.Error(), "c.go") {
		t.Errorf("got %v, want b.go and c.go named", err)
	}
}

func TestRepairsMustMatch(t *testing.T) {
	// Proves that a repair whose cause is gone stops the generator and names itself.
	t.Parallel()
	text := bytes.ReplaceAll(contractText(t), []byte("JsonSchemaDefinition"), []byte("JSONSchemaDefinition"))
	_, err := codegenInput(text)
	if err == nil || !strings.Contains(err.Error(), "JsonSchemaDefinition.additionalProperties") {
		t.Errorf("got %v, want the repair named", err)
	}
}

const small = `
openapi: 3.0.3
paths:
  /things/{id}:
    post:
      operationId: makeThing
      tags: [Things]
      summary: Make a thing
      x-required-roles: [{type: ApiRole, roles: [owner]}]
      parameters: [{name: id, in: path, required: true, schema: {type: string}}]
      requestBody: {content: {application/json: {schema: {$ref: '#/components/schemas/Thing'}}}}
      responses: {'201': {description: Made.}, '200': {description: There.}, default: {description: Fault.}}
components:
  schemas:
    Thing: {type: string}
`

func TestContractMistakesAreNamed(t *testing.T) {
	// Proves that a contract which the tables cannot hold is refused with the operation named.
	t.Parallel()
	if _, err := tables([]byte(small)); err != nil {
		t.Fatalf("the sound contract is refused: %v", err)
	}
	for change, want := range map[[2]string]string{
		{"summary: Make a thing", "summary: ''"}:                            "summary",
		{"type: ApiRole", "type: Role"}:                                     "role type",
		{"{type: string}}]", "{}}]"}:                                        "has no type",
		{"application/json", "text/csv"}:                                    "media type",
		{"{$ref: '#/components/schemas/Thing'}", "{type: string}"}:          "no name",
		{"'201': {description: Made.}, '200': {description: There.}, ", ""}: "success",
		{"'201'", "2XX"}:      "2XX",
		{"paths:", "routes:"}: "no paths",
		{"'200': {description: There.}", "'202': {description: Begun.}"}:     "x-names-job must be stated",
		{"application/json", "application/x-www-form-urlencoded"}:            "x-oauth-errors must be stated",
		{"[{type: ApiRole, roles: [owner]}]", "[{type: ApiRole}, {type: }]"}: "role type",
	} {
		text := strings.Replace(small, change[0], change[1], 1)
		if _, err := tables([]byte(text)); text == small || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q", change[1], err, want)
		}
	}
}

func TestTablesAreStable(t *testing.T) {
	// Proves that generating twice gives the same bytes: no map order shows.
	t.Parallel()
	text := contractText(t)
	first, err := tables(text)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		again, err := tables(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range slices.Sorted(maps.Keys(first)) {
			if !bytes.Equal(first[name], again[name]) {
				t.Errorf("%s differs between two runs", name)
			}
		}
	}
}
