package archtest

// layer is a horizontal slice of the house.
type layer int

const (
	leaf layer = iota
	engine
	domain
	adapter
	transport
	assembly
	tests
)

// group is a folder directly under internal/: one capability. Its packages may import every leaf, the groups that
// it uses, and each other; where an order is given, a package imports only packages that stand before it, and a
// package that is not named takes the place of its nearest named parent ("." is the root of the group).
type group struct {
	layer layer
	uses  string
	order string
}

// groups is the plan of docs/architecture.md: a line says which groups a group may import. What stands in no line
// fails the test.
var groups = map[string]group{
	"background": {}, "clip": {}, "clock": {}, "cpu": {}, "endpoint": {}, "fault": {}, "filelock": {}, "id": {}, "jsonvalue": {}, "opt": {}, "origin": {}, "page": {}, "room": {}, "sse": {}, "secret": {},

	"text":    {layer: engine, order: "lang snowball sentence analysis rarity chunk fuzzy glossary"},
	"expr":    {layer: engine, order: ". filter jq jsonpath metadata userfn vtl"},
	"encode":  {layer: engine},
	"extract": {layer: engine},
	"search":  {layer: engine, uses: "text expr"},
	"index":   {layer: engine, uses: "text expr search", order: "rowset topk column layer condition postings lexical vector dimension recall segment lists rows plan manifest compact view merge draft ."},

	"blob":     {layer: domain},
	"trace":    {layer: domain},
	"metric":   {layer: domain, uses: "trace", order: "sketch ."},
	"usage":    {layer: domain},
	"job":      {layer: domain},
	"embed":    {layer: domain, uses: "encode"},
	"llm":      {layer: domain, uses: "usage expr", order: ". prompt write complete registry"},
	"identity": {layer: domain, order: "authz account audit token signin"},
	"corpus":   {layer: domain, uses: "blob job embed usage llm text expr extract index search", order: ". table metadata document variable draft replica ingest bulk metaquery attribute rebuild"},
	"answer":   {layer: domain, uses: "corpus llm embed encode text expr", order: "verify/fact verify/markup verify verify/correct summarize generate"},
	"query":    {layer: domain, uses: "corpus embed text expr search answer llm", order: "measure rerank retrieve evaluate rephrase rewrite history ."},
	"chat":     {layer: domain, uses: "query answer"},
	"glossary": {layer: domain, uses: "text"},
	"agent":    {layer: domain, uses: "identity llm usage expr blob corpus extract glossary trace", order: "artifact permit identity skill tool/reference tool/schema tool/mask secret tool/credential tool/line tool tool/search tool/indexing tool/file/grep tool/file/convert tool/file tool/web tool/message tool/offload tool/catalog tool/configuration tool/server enrich instruction reminder . session transcript compact fork session/feed session/recent describe turn tool/subagent"},

	"folder": {layer: domain, uses: "extract", order: "ignore source state ."},

	"store":     {layer: adapter, uses: "identity usage job llm corpus query answer chat agent glossary blob trace metric oauth"},
	"blobstore": {layer: adapter, uses: "blob"},
	"outbound":  {layer: adapter},
	"oauth":     {layer: adapter, uses: "outbound"},
	"mcpclient": {layer: adapter, uses: "agent oauth outbound"},
	"messenger": {layer: adapter, uses: "agent outbound provider"},
	"webget":    {layer: adapter, uses: "agent outbound"},
	"websearch": {layer: adapter, uses: "agent outbound"},
	"otlp":      {layer: adapter, uses: "trace outbound"},
	"reader":    {layer: adapter, uses: "extract"},
	"ocr":       {layer: adapter, uses: "extract"},
	"provider":  {layer: adapter, uses: "llm embed text oauth outbound"},

	"api":      {layer: transport},
	"console":  {layer: transport, uses: "httpapi"},
	"httpapi":  {layer: transport, uses: "api identity usage job llm embed corpus query answer chat agent glossary trace text expr metric"},
	"mcpserve": {layer: transport, uses: "httpapi agent"},

	"config": {layer: assembly, uses: "llm text outbound"},
	"app":    {layer: assembly, uses: "config console httpapi mcpserve store blobstore trace otlp outbound oauth mcpclient messenger webget websearch provider reader ocr identity usage job llm embed corpus query answer chat agent glossary blob index metric"},
	"cli":    {layer: assembly, uses: "app config mcpserve reader identity llm corpus query answer embed encode extract folder glossary text"},

	"testkit": {layer: tests}, "archtest": {layer: tests},
}

// support lists the packages inside groups that only tests use: they may import everything, and only tests and
// each other may import them.
var support = []string{
	"agent/turn/spans/spanstest",
	"app/apptest", "blob/blobtest", "corpus/document/documenttest", "corpus/replica/targettest", "extract/extracttest", "extract/samplefile", "identity/signin/signintest", "identity/token/tokentest",
	"job/jobtest", "llm/llmtest", "provider/google/googletest", "provider/scripted", "provider/scripted/transcript", "store/cutvfs", "store/storetest", "store/storetest/pgserver", "usage/usagetest",
}

// tools lists programs inside groups that write what the group then contains.
var tools = []string{"text/rarity/gen", "encode/kernel/gen"}

// forbidden lists what an area must not import, by import path prefix, with the reason that the failure prints.
var forbidden = []struct {
	area    func(pkg string) bool
	imports string
	reason  string
}{
	{inLayer(leaf), "quarry/internal/api", "leaves know no wire types"},
	{inLayer(engine), "net/http", "engines are pure: values in, values out"},
	{inLayer(engine), "database/sql", "engines are pure: values in, values out"},
	{inLayer(engine), "os/exec", "engines start no process"},
	{inLayer(engine), "log/slog", "engines return errors, they do not log"},
	{inLayer(domain), "net/http", "the domain knows no transport"},
	{under("secret"), "net/http", "secrets are values and files"},
	{inLayer(domain), "database/sql", "SQL lives under store/"},
	{inLayer(domain), "quarry/internal/api", "wire types end at httpapi/*/wire.go"},
	{under("httpapi/agents", "httpapi/analytics", "httpapi/documents", "httpapi/instructions", "httpapi/queries", "httpapi/toolconfigurations", "httpapi/tools", "httpapi/toolservers"), "quarry/internal/api", "bodies that are trees and unions have wire types of their own (decision 0001)"},
	{under("httpapi"), "quarry/internal/store", "handlers reach rows through the domain"},
	{under("httpapi"), "quarry/internal/index", "handlers reach the index through the domain"},
	{under("httpapi"), "database/sql", "SQL lives under store/"},
	{not(under("httpapi", "api", "testkit", "archtest")), "quarry/internal/api", "wire types are for httpapi and tests"},
	{not(under("store")), "database/sql", "SQL lives under store/"},
	{not(either(inLayer(tests), under("reader", "ocr", "cli/console"))), "os/exec", "processes are started by reader (parsers), ocr (tesseract, pdftoppm) and cli/console (the browser) only"},
	{not(inLayer(tests)), "quarry/internal/testkit", "test fixtures stay out of the product"},
}
