package archtest

// layer is a horizontal slice of the house; a package may import its own layer only where the table says so.
type layer int

const (
	kernel layer = iota
	engine
	domain
	adapter
	transport
	assembly
	tests
)

// place says where each package under internal/ stands: its layer and, within engines and domain, its rank. A package
// may import packages of lower layers, and of its own layer with a lower rank. Sub-packages inherit the place of
// the nearest ancestor listed and may import that ancestor's sub-packages (siblings of one idea).
type place struct {
	layer layer
	rank  int
}

// houses is the plan of docs/architecture.md. A package that stands nowhere fails the test.
var houses = map[string]place{
	"fault": {kernel, 0}, "id": {kernel, 0}, "opt": {kernel, 0}, "page": {kernel, 1}, "seal": {kernel, 0}, "redact": {kernel, 0}, "sse": {kernel, 0},

	"text": {engine, 0}, "text/lang": {engine, 1}, "text/sentence": {engine, 1}, "text/token": {engine, 2},
	"extract": {engine, 3}, "chunk": {engine, 3}, "fuzzy": {engine, 3}, "expr": {engine, 1}, "filter": {engine, 2}, "userfn": {engine, 2},
	"index": {engine, 4}, "encode": {engine, 1}, "measure": {engine, 0}, "vtl": {engine, 3}, "text/rarity": {engine, 3},

	"audit": {domain, 2}, "usage": {domain, 2},
	"authz": {domain, 1}, "vault": {domain, 1}, "account": {domain, 2}, "token": {domain, 2}, "job": {domain, 3}, "embed": {domain, 3}, "corpus": {domain, 4},
	"document": {domain, 5}, "replica": {domain, 6}, "ingest": {domain, 7}, "bulk": {domain, 7}, "rerank": {domain, 8},
	"metaquery": {domain, 6}, "attribute": {domain, 7}, "retrieve": {domain, 9}, "evaluate": {domain, 10}, "history": {domain, 10},

	"signin": {domain, 3}, "llm": {domain, 3}, "verify": {domain, 8}, "generate": {domain, 11},

	"store": {adapter, 0}, "outbound": {adapter, 0}, "provider": {adapter, 1},

	"api": {transport, 0}, "httpapi": {transport, 1},

	"config": {assembly, 0}, "app": {assembly, 1}, "cli": {assembly, 2},

	"signin/signintest": {tests, 2},
	"testkit":           {tests, 0}, "archtest": {tests, 1},
	"llm/llmtest": {tests, 2}, "provider/google/googletest": {tests, 1}, "provider/scripted": {tests, 1}, "job/jobtest": {tests, 1}, "token/tokentest": {tests, 1}, "usage/usagetest": {tests, 1}, "store/storetest": {tests, 1}, "app/apptest": {tests, 1}, "store/cutvfs": {tests, 1}, "document/documenttest": {tests, 1},
}

// forbidden lists what an area must not import, by import path prefix, with the reason that the failure prints.
var forbidden = []struct {
	area    func(pkg string) bool
	imports string
	reason  string
}{
	{inLayer(kernel), "quarry/internal/api", "the kernel knows no wire types"},
	{inLayer(engine), "net/http", "engines are pure: values in, values out"},
	{inLayer(engine), "database/sql", "engines are pure: values in, values out"},
	{inLayer(engine), "os/exec", "engines start no process"},
	{inLayer(engine), "log/slog", "engines return errors, they do not log"},
	{inLayer(domain), "net/http", "the domain knows no transport"},
	{inLayer(domain), "database/sql", "SQL lives under store/"},
	{inLayer(domain), "quarry/internal/api", "wire types end at httpapi/*/wire.go"},
	{under("httpapi"), "quarry/internal/store", "handlers reach rows through the domain"},
	{under("httpapi"), "quarry/internal/index", "handlers reach the index through the domain"},
	{under("httpapi"), "database/sql", "SQL lives under store/"},
	{not(under("httpapi", "cli", "api", "testkit", "archtest")), "quarry/internal/api", "wire types are for httpapi, cli and tests"},
	{not(under("store")), "database/sql", "SQL lives under store/"},
	{not(inLayer(tests)), "os/exec", "processes are started by sandbox, ocr, poppler and extract/worker only"},
	{not(inLayer(tests)), "quarry/internal/testkit", "test fixtures stay out of the product"},
}
