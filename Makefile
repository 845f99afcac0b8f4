# Two targets do everything: `make serve` runs the service, `make test` passes every test.
export CGO_ENABLED := 0
TOOL := go tool -modfile=tools/go.mod

.PHONY: help
help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

.PHONY: build
build: ## build ./quarry, one file
	@echo "compiling: one to two minutes the first time, seconds after that"
	go build -o quarry ./cmd/quarry

.PHONY: serve
serve: build ## build and start the service
	./quarry serve

# Programs without what debuggers read are linked in half the time, and lint vets all packages.
QUICKLY := -ldflags='-s -w' -vet=off

# The longest packages come first, so that none is left running alone at the end.
.PHONY: test
test: ## pass every test (starts what it needs by itself)
	go run ./test/summary $(QUICKLY) -timeout 20m ./test/crash ./test/binary ./test/folder ./...

.PHONY: race
race: ## the packages where goroutines meet, under the race detector (needs a C compiler), without long tests of one goroutine
	CGO_ENABLED=1 go run ./test/summary -race $(QUICKLY) -timeout 20m -skip 'TestBadPassagesAndQuestions|TestQuotesStandInTheirPassage|TestKilled|TestRebuildKilled|TestFailingDisk|TestModel|TestEveryByte|TestLarge$$|TestFilteredLists|TestListedPages|TestHeadingPages|TestTraceKilled|TestPagesOfAnIndex|TestMix$$' ./internal/agent/... ./internal/job ./internal/usage ./internal/corpus/bulk ./internal/corpus/replica ./internal/index ./internal/index/compact ./internal/query/retrieve ./internal/corpus/ingest ./internal/embed ./internal/identity/signin ./internal/sse ./internal/provider/... ./internal/oauth ./internal/mcpclient ./internal/store/rotated ./internal/store/sessions ./internal/httpapi/... ./test/scenario

# compat and browser are modules of their own: the go command does not see when the program that they start has changed, hence -count=1.

.PHONY: compat
compat: ## our adapters of language models against the providers' own libraries, and published clients against the service (minutes)
	cd test/compat && go vet ./... && go run quarry/test/summary -count=1 -timeout 10m ./...

.PHONY: console
console: ## build the console from web/ into internal/console/dist (needs Node 20.19)
	cd web && npm ci --ignore-scripts && npm run types && npm run build
	QUARRY_GENERATE=1 go test -count=1 -run TestNotice ./release

.PHONY: browser
browser: ## the console: its own checks, and what people do with it in a browser (needs Node 20.19 and Chromium)
	cd web && npm ci --ignore-scripts --loglevel=error && npm run --silent types && npm run --silent lint && npm test
	cd test/browser && go vet ./... && go run quarry/test/summary -count=1 -timeout 30m -skip TestBuilt ./...

.PHONY: generate
generate: ## write everything that is generated
	go run ./api/gen
	QUARRY_GENERATE=1 go test -count=1 ./internal/config ./internal/cli
	QUARRY_GENERATE=1 go test -count=1 -run TestNotice ./release
	$(MAKE) ledger

.PHONY: ledger
ledger: ## write docs/reference/operations.md from the contract and a run of the scenarios
	QUARRY_GENERATE=1 go test -count=1 ./test/scenario

.PHONY: verify
verify: ## generated files and the console are current, modules tidy, sources formatted
	go run ./api/gen -check
	go mod tidy -diff
	cd test/compat && go mod tidy -diff
	cd bench/scale/bleve && go mod tidy -diff
	cd test/browser && go mod tidy -diff && go run quarry/test/summary -timeout 10m -run TestBuilt ./...
	@unformatted=$$(git ls-files '*.go' | xargs gofmt -l); test -z "$$unformatted" || { echo "not formatted: $$unformatted"; exit 1; }

# What deadcode starts from, and how it writes a function: package.name. Package testkit is left out: only tests call it, and
# they are no programs.
PROGRAMS := ./cmd/... ./bench/... ./test/... ./api/...
UNREACHED := {{range .Funcs}}{{$$.Path}}.{{.Name}}{{println}}{{end}}

.PHONY: lint
lint: ## go vet, staticcheck, and functions that no program reaches (> new ones, < exceptions that are none any more)
	go vet ./...
	$(TOOL) staticcheck ./...
	bash -c 'diff <(cut -d" " -f1 tools/deadcode.txt) <($(TOOL) deadcode -filter "^quarry/(internal|cmd|bench|api)" -f "$(UNREACHED)" $(PROGRAMS) | grep -v "^quarry/internal/testkit\." | LC_ALL=C sort)'

.PHONY: fuzz
fuzz: ## every fuzz target for 30 seconds each
	./bench/fuzz.sh 30s

.PHONY: bench
bench: ## every benchmark; results belong in docs/benchmarks.md
	./bench/run.sh

.PHONY: bench-scale
bench-scale: build ## the index at a million passages, beside other engines: hours, see bench/scale/README.md (PARTS=dense,http runs some)
	go run ./bench/scale -parts "$(PARTS)" $(ARGS)

.PHONY: soak
soak: ## long kill loops
	go test -count=1 -timeout 4h ./test/crash -rounds 200
	go test -count=1 -timeout 4h ./test/folder -rounds 200
	go test -count=1 -timeout 4h -run TestMixedKilled ./test/folder -files 10000
	go test -count=1 -timeout 4h -run TestKilled ./internal/index -rounds 40

.PHONY: release
release: ## what people download, in dist/: archives of all platforms, checksums, list of parts (VERSION=1.2.3 names it)
	go run ./release $(if $(VERSION),-version $(VERSION))
	go test -count=1 ./release -dist "$(CURDIR)/dist"

.PHONY: tidy
tidy: ## tidy the modules
	go mod tidy
	cd tools && go mod tidy
	cd test/compat && go mod tidy
	cd bench/scale/bleve && go mod tidy
	cd test/browser && go mod tidy
