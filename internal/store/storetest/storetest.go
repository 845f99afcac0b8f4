// Package storetest is the conformance suite of the stores: every implementation of corpus.Store, document.Store and
// history.Store must pass it, and those of job.Store that of jobtest, whatever is behind. It also starts a PostgreSQL
// server for tests that need one.
// Only tests import it.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"quarry/internal/clock"
	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/id"
	"quarry/internal/identity/account"
	"quarry/internal/job"
	"quarry/internal/job/jobtest"
	"quarry/internal/query/history"
)

// Stores is one installation's stores.
type Stores struct {
	Accounts  account.Store // held to its promises by the tests of store/accounts
	Corpora   corpus.Store
	Documents document.Store
	Jobs      job.Store
	Queries   history.Store
}

// Run holds stores to the interfaces' comments. open returns the stores of a fresh, empty installation.
func Run(t *testing.T, open func(testing.TB) Stores) {
	for _, c := range []struct {
		name string
		test func(*testing.T, Stores)
	}{
		{"create corpus", testCreateCorpus}, {"create corpus at once", testCreateCorpusAtOnce}, {"get corpora", testGetCorpora},
		{"list corpora", testListCorpora}, {"match corpora", testMatchCorpora}, {"update corpus", testUpdateCorpus},
		{"replace attributes", testReplaceAttributes}, {"recount", testRecount}, {"reset corpus", testResetCorpus}, {"delete corpus", testDeleteCorpus},
		{"insert and get", testInsertAndGet}, {"taken id", testTakenID}, {"taken id at once", testTakenIDAtOnce},
		{"epoch", testEpoch}, {"delete document", testDeleteDocument}, {"usage", testUsage},
		{"amend", testAmend}, {"amend at once", testAmendAtOnce}, {"heads", testHeads}, {"delete many", testDeleteMany},
		{"changed meanwhile", testChangedMeanwhile}, {"usage always", testUsageAlways},
		{"ids", testIDs}, {"list documents", testListDocuments}, {"corpora apart", testCorporaApart},
		{"changes", testChanges}, {"dense numbers", testDenseNumbers}, {"load", testLoad}, {"scan", testScan},
		{"scan is a snapshot", testScanSnapshot}, {"passages", testPassages},
		{"delete aborts jobs", testDeleteAborts},
		{"metadata", testMetadata}, {"save and get query", testSaveQuery}, {"list queries", testListQueries}, {"query filters", testQueryFilters},
		{"query readers", testQueryReaders}, {"expire queries", testExpireQueries},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.test(t, open(t))
		})
	}
	jobtest.Conform(t, func(t testing.TB) job.Store { return open(t).Jobs })
}

// Corpus returns a corpus to create, with every member set.
func Corpus(key string) corpus.Corpus {
	about := "all about " + key
	return corpus.Corpus{
		ID: id.NewCorpus(), Key: key, Name: "Name of " + key, Description: &about, Enabled: true, SaveHistory: true,
		QueriesAreAnswers: true, DocumentsAreQuestions: true, EncoderName: "mini", EncoderFingerprint: "f00d",
		Attributes: []corpus.Attribute{{Name: "year", Level: "document", Type: "integer", Description: "of issue", Indexed: true}},
		Dimensions: []corpus.Dimension{{Name: "votes", Description: "by readers", IndexingDefault: 0.5, QueryingDefault: -1}},
		Created:    clock.Now(),
	}
}

// Document returns a document of n parts to insert, with every member set.
func Document(docID string, n int) *document.Document {
	d := &document.Document{
		ID: docID, Title: "Über <b>" + docID + "</b>", Metadata: json.RawMessage(`{"n":1.50,"s":"é<&>","deep":{"a":[1,null]}}`),
		Tables: []document.Table{{ID: "t1", Title: "T", Description: "D", Data: json.RawMessage(`{"headers":[["a<b"]],"rows":[[1e3]]}`)}},
		Images: []document.Image{{ID: "i1", Title: "It", Caption: "Ic", Description: "Id", MimeType: "image/png"}},
		Digest: "digest of " + docID, Usage: document.StorageUsage{Bytes: 1234, MetadataBytes: 56},
	}
	for i := range n {
		d.Parts = append(d.Parts, document.Part{
			Ord: i, Text: fmt.Sprintf("Part %d of %s: ☃😀", i, docID), Heading: "Heading", Context: "Context",
			Metadata: json.RawMessage(fmt.Sprintf(`{"lang":"eng","i":%d}`, i)), Lang: "eng", IsTitle: i == 0,
			Dimensions: []float64{float64(i), 0.1}, TableID: "t1", ImageID: "i1", Gap: "\n\n", Vector: vector(docID, i),
		})
	}
	return d
}

// vector returns 772 bytes, the size of a real one, that tell document and place.
func vector(docID string, i int) []byte {
	out := make([]byte, 772)
	copy(out, fmt.Sprintf("%d\x00\xff%s", i, docID))
	return out
}

func create(t *testing.T, s Stores, key string) corpus.Corpus {
	t.Helper()
	c, err := s.Corpora.Create(t.Context(), Corpus(key))
	if err != nil {
		t.Fatalf("create corpus %q: %v", key, err)
	}
	return c
}

func get(t *testing.T, s Stores, key string) corpus.Corpus {
	t.Helper()
	all, err := s.Corpora.Get(t.Context(), key)
	if err != nil {
		t.Fatalf("get corpus %q: %v", key, err)
	}
	return all[0]
}

// insert writes a document of n parts into c and returns its number.
func insert(t *testing.T, s Stores, c corpus.Corpus, docID string, n int) int64 {
	t.Helper()
	d := Document(docID, n)
	if _, err := s.Documents.Insert(t.Context(), c.No, c.Epoch, d); err != nil {
		t.Fatalf("insert %q: %v", docID, err)
	}
	return d.No
}

// Remove deletes a document of c as it is now.
func Remove(ctx context.Context, s document.Store, c corpus.Corpus, docID string) (seq int64, err error) {
	seen, err := s.Get(ctx, c.No, docID, false)
	if err != nil {
		return 0, err
	}
	return s.Delete(ctx, c.No, c.Epoch, seen)
}
