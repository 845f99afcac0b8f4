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
	names, err := listedModels(root)
	if err != nil {
		t.Fatal(err)
	}
	input, err := codegenInput(contractText(t), names)
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

func TestListOfModels(t *testing.T) {
	// Proves that a model that is listed and unused is named, and one that is used and not listed.
	t.Parallel()
	if err := compareUse(root, contractText(t)); err != nil {
		t.Errorf("the repository: %v", err)
	}
	dir := t.TempDir()
	for name, body := range map[string]string{
		modelList: "Thing\nUnused\n",
		"a/a.go":  "package a\n\nimport " + apiPath + "\n\nvar _ = []any{api.Thing{}, api.Other{}, api.Operations}\n",
		"b/b.go":  "package b\n\nvar _ = api.Unused{}\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Replace(small, "    Thing: {type: string}", "    Thing: {type: string}\n    Other: {type: string}\n    Unused: {type: string}", 1)
	const want = "api/gen/models.txt lists Unused, which nothing uses: take it out\napi/gen/models.txt does not list Other, which is used: add it"
	if err := compareUse(dir, []byte(text)); err == nil || err.Error() != want {
		t.Errorf("got %v, want:\n%s", err, want)
	}
}

func TestFormOfModels(t *testing.T) {
	// Proves what the models are made from: the schemas listed with those that they refer to, unions and free JSON as
	// raw JSON, an e-mail address as a string.
	t.Parallel()
	const schemas = `
    Thing:
      type: object
      properties:
        kind: {$ref: '#/components/schemas/Kind'}
        pet: {$ref: '#/components/schemas/Pet'}
        extra: {type: object, nullable: true, additionalProperties: true}
        names: {type: object, additionalProperties: {type: string, format: email}}
        any: {description: Anything.}
    Kind: {type: string, enum: [a, b]}
    Pet: {oneOf: [{$ref: '#/components/schemas/Cat'}]}
    Cat: {type: object}
`
	text := strings.Replace(small, "\n    Thing: {type: string}\n", schemas, 1)
	got, err := codegenInput([]byte(text), []string{"Thing"})
	if err != nil {
		t.Fatal(err)
	}
	raw := func(description string) string {
		return `{"description":"` + description + `","x-go-type":"json.RawMessage","x-go-type-skip-optional-pointer":true}`
	}
	want := `{"components":{"schemas":{"Kind":{"enum":["a","b"],"type":"string"},"Pet":` + raw("") + `,"Thing":{"properties":{"any":` + raw("Anything.") +
		`,"extra":` + raw("") + `,"kind":{"$ref":"#/components/schemas/Kind"},"names":{"additionalProperties":{"type":"string"},"type":"object"}` +
		`,"pet":{"$ref":"#/components/schemas/Pet"}},"type":"object"}}},"info":{"title":"Quarry","version":"2"},"openapi":"3.0.3","paths":{}}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := codegenInput([]byte(text), []string{"Dog"}); err == nil || !strings.Contains(err.Error(), "lists Dog") {
		t.Errorf("got %v, want an error about Dog", err)
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
		{"summary: Make", "x-status: done\n      summary: Make"}:            "x-status",
		{"type: ApiRole", "type: Role"}:                                     "role type",
		{"{type: string}}]", "{}}]"}:                                        "has no type",
		{"application/json", "text/csv"}:                                    "media type",
		{"{$ref: '#/components/schemas/Thing'}", "{type: string}"}:          "no name",
		{"'201': {description: Made.}, '200': {description: There.}, ", ""}: "success",
		{"'201'", "2XX"}:      "2XX",
		{"paths:", "routes:"}: "no paths",
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
