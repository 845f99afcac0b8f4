package contract_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"

	contract "quarry/api"
	"quarry/internal/api"
)

func TestContractIsValidOpenAPI(t *testing.T) {
	// Proves that openapi.yaml loads and validates as OpenAPI 3.0.
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(contract.YAML)
	if err != nil {
		t.Fatalf("load: %v", err)
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Errorf("validate: %v", err)
	}
	if doc.OpenAPI != "3.0.3" {
		t.Errorf("version: got %s, want 3.0.3", doc.OpenAPI)
	}
}

// compiler knows every schema under its address.
func compiler(t testing.TB) (*jsonschema.Compiler, []string) {
	t.Helper()
	var docs map[string]json.RawMessage
	if err := json.Unmarshal(api.Schemas, &docs); err != nil {
		t.Fatalf("decode schemas: %v", err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	names := make([]string, 0, len(docs))
	for name, raw := range docs {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatalf("decode schema %s: %v", name, err)
		}
		if err := c.AddResource(api.SchemaURL(name), doc); err != nil {
			t.Fatalf("add schema %s: %v", name, err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return c, names
}

func TestSchemasCompile(t *testing.T) {
	// Proves that every generated schema compiles, its references and patterns included.
	t.Parallel()
	c, names := compiler(t)
	for _, name := range names {
		if _, err := c.Compile(api.SchemaURL(name)); err != nil {
			t.Errorf("compile %s: %v", name, err)
		}
	}
}

func TestOperationsNameTheirSchemas(t *testing.T) {
	// Proves that the operation table is complete: unique ids and routes, a summary, roles
	// unless it is public or open to callers, and schemas that exist.
	t.Parallel()
	_, names := compiler(t)
	seen := map[string]string{}
	for _, op := range api.Operations {
		route := op.Method + " " + op.Path
		if seen[op.ID] != "" || seen[route] != "" {
			t.Errorf("%s %s is there twice", op.ID, route)
		}
		seen[op.ID], seen[route] = route, op.ID
		if (op.Public || op.OpenTo != "") != (len(op.APIRoles) == 0) {
			t.Errorf("%s: public is %t, it is open to %q, and there are %d API roles", op.ID, op.Public, op.OpenTo, len(op.APIRoles))
		}
		if len(op.Summary) < 10 || strings.HasSuffix(op.Summary, ".") || strings.Contains(op.Summary, op.ID) {
			t.Errorf("%s: summary %q is not one", op.ID, op.Summary)
		}
		wanted := []string{op.Body.JSON, op.Body.Form, op.Body.Multipart}
		for _, p := range op.Params {
			wanted = append(wanted, p.Schema)
		}
		for _, name := range wanted {
			if _, found := slices.BinarySearch(names, name); name != "" && !found {
				t.Errorf("%s: schema %q does not exist", op.ID, name)
			}
		}
		if got := api.OperationByID(op.ID); got == nil || got.Path != op.Path {
			t.Errorf("OperationByID(%q) is %v", op.ID, got)
		}
	}
	if api.OperationByID("noSuchOperation") != nil {
		t.Error("an unknown id has an operation")
	}
}
