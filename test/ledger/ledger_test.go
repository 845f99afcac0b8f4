package ledger_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"quarry/internal/api"
	"quarry/test/ledger"
)

func TestMissing(t *testing.T) {
	// Proves that exactly the success and the 4xx of built operations are asked for, whatever
	// scenario saw them, and that a status marked as never sent is not.
	t.Parallel()
	full := []ledger.Evidence{
		{Operation: "deleteCorpusDocument", Scenario: "a.yaml", Status: 204},
		{Operation: "deleteCorpusDocument", Scenario: "a.yaml", Status: 404},
		{Operation: "deleteCorpusDocument", Scenario: "b.yaml", Status: 400},
		{Operation: "deleteCorpusDocument", Scenario: "b.yaml", Status: 401},
		{Operation: "deleteCorpusDocument", Scenario: "b.yaml", Status: 409},
		{Operation: "deleteCorpusDocument", Scenario: "b.yaml", Status: 429},
		{Operation: "deleteCorpusDocument", Scenario: "b.yaml", Status: 403},
	}
	for _, c := range []struct {
		name     string
		built    []string
		evidence []ledger.Evidence
		want     []ledger.Gap
	}{
		{"nothing built", nil, nil, nil},
		{"everything seen", []string{"deleteCorpusDocument"}, full, nil},
		{"success missing", []string{"deleteCorpusDocument"}, full[1:], []ledger.Gap{{Operation: "deleteCorpusDocument", Status: 204}}},
		{"refusal missing", []string{"deleteCorpusDocument"}, full[:6], []ledger.Gap{{Operation: "deleteCorpusDocument", Status: 403}}},
		{"seen by another operation", []string{"healthz"}, full, []ledger.Gap{{Operation: "healthz", Status: 200}}},
	} {
		l, err := ledger.New(c.built, c.evidence)
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, l.Missing()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestNewRefusesUnknownOperations(t *testing.T) {
	// Proves that a misspelt operation cannot stand in the account unnoticed.
	t.Parallel()
	if _, err := ledger.New([]string{"createCorpse"}, nil); err == nil {
		t.Error("an unknown built operation is accepted")
	}
	_, err := ledger.New(nil, []ledger.Evidence{{Operation: "createCorpse", Scenario: "x.yaml", Status: 201}})
	if err == nil || !strings.Contains(err.Error(), "x.yaml") {
		t.Errorf("got %v, want an error that names the scenario", err)
	}
}

func TestReadEvidence(t *testing.T) {
	// Proves that the file format is read as written and a stray member is refused.
	t.Parallel()
	got, err := ledger.ReadEvidence(strings.NewReader(`[{"operation":"createCorpus","scenario":"corpora/create.yaml","status":201}]`))
	if err != nil {
		t.Fatal(err)
	}
	want := []ledger.Evidence{{Operation: "createCorpus", Scenario: "corpora/create.yaml", Status: 201}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := ledger.ReadEvidence(strings.NewReader(`[{"op":"createCorpus"}]`)); err == nil {
		t.Error("an unknown member is accepted")
	}
}

func TestReadmeCountsOperations(t *testing.T) {
	// Proves that README says how much of the contract is built.
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	built := 0
	for _, op := range api.Operations {
		if !op.Planned {
			built++
		}
	}
	if want := fmt.Sprintf("%d of %d operations", built, len(api.Operations)); !strings.Contains(string(text), want) {
		t.Errorf("README.md does not say %q", want)
	}
}

func TestMarkdown(t *testing.T) {
	// Proves that each operation has a row with its route, its state, its scenarios and gaps.
	t.Parallel()
	l, err := ledger.New([]string{"healthz", "deleteCorpusDocument"}, []ledger.Evidence{
		{Operation: "healthz", Scenario: "b.yaml", Status: 200},
		{Operation: "healthz", Scenario: "a.yaml", Status: 503},
		{Operation: "healthz", Scenario: "a.yaml", Status: 200},
		{Operation: "deleteCorpusDocument", Scenario: "d.yaml", Status: 204},
		{Operation: "listJobs", Scenario: "refusals.yaml", Status: 501},
	})
	if err != nil {
		t.Fatal(err)
	}
	text := l.Markdown()
	for _, want := range []string{
		fmt.Sprintf("2 of the %d operations of the contract are built", len(api.Operations)),
		"\n## Service\n",
		"| healthz | `GET /healthz` | built | Say whether queries are being served | `a.yaml` 200, 503<br>`b.yaml` 200 |\n",
		"`d.yaml` 204<br>**not seen: 400, 401, 403, 404, 409, 429**<br>never 422: ",
		"| listJobs | `GET /v2/jobs` | 501 | List background jobs by corpus, state or age | `refusals.yaml` 501 |\n",
		"| createGlossary | `POST /v2/glossaries` | 501 | Create a glossary of terms and their expansions |  |\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	if rows := strings.Count(text, "\n| ") - strings.Count(text, "\n| Operation"); rows != len(api.Operations) {
		t.Errorf("got %d rows, want one per operation, %d", rows, len(api.Operations))
	}
}
