package documents_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"quarry/internal/corpus"
	"quarry/internal/corpus/document"
	"quarry/internal/corpus/document/documenttest"
	"quarry/internal/corpus/ingest"
	"quarry/internal/embed"
	"quarry/internal/httpapi"
	"quarry/internal/httpapi/documents"
	"quarry/internal/identity/authz"
	"quarry/internal/page"
)

// patient is an encoder that goes on when the request has ended. If that does not end it, it encodes all the same.
type patient struct {
	documenttest.Encoder
	begun chan struct{} // gets a value per call
	ended chan error    // how the call ended
}

func (p *patient) Get(string) (embed.Encoder, error) { return p, nil }

func (p *patient) Encode(ctx context.Context, kind embed.Kind, texts []string, out [][]float32) error {
	p.begun <- struct{}{}
	select {
	case <-ctx.Done():
		p.ended <- ctx.Err()
		return ctx.Err()
	case <-time.After(10 * time.Second): // a failure
	}
	p.ended <- nil
	return p.Encoder.Encode(ctx, kind, texts, out)
}

// TestClientGone proves that encoding ends when the client goes, for every operation that adds a document, and that nothing
// is left of the document nor changed of the one that it was to replace.
func TestClientGone(t *testing.T) {
	t.Parallel()
	const file = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"d.txt\"\r\n\r\nNew text.\r\n--x--\r\n"
	const core = `{"type":"core","id":"d.txt","document_parts":[{"text":"New text."}]}`
	for name, c := range map[string]struct{ path, contentType, body string }{
		"create":             {"documents", "application/json", core},
		"replace":            {"documents?on_conflict=replace", "application/json", core},
		"upload":             {"upload_file", "multipart/form-data; boundary=x", file},
		"upload and replace": {"upload_file?on_conflict=replace", "multipart/form-data; boundary=x", file},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := documenttest.New(corpus.Corpus{Key: "manuals", Enabled: true})
			if strings.Contains(c.path, "replace") {
				d := &document.Document{ID: "d.txt", Parts: []document.Part{{Text: "Old text.", Vector: make([]byte, 8)}}}
				if _, err := m.Insert(t.Context(), m.Corpus.No, m.Corpus.Epoch, d); err != nil {
					t.Fatal(err)
				}
			}
			before, was := m.Document("d.txt")
			seq := m.Corpus.Seq
			encoder := &patient{begun: make(chan struct{}), ended: make(chan error, 1)}
			service, err := httpapi.New(httpapi.Config{
				Authenticate: func(context.Context, httpapi.Credential) (authz.Principal, error) {
					return authz.Principal{Kind: authz.User, ID: "usr_1", APIRoles: []string{"owner"}}, nil
				},
				Areas: []httpapi.Area{documents.New(
					ingest.New(ingest.Config{Corpora: m.Corpora(), Documents: m, Encoders: encoder, Index: m}),
					document.NewService(m, m.Corpora(), m, nil, 2), page.NewCursors([]byte("a secret of the installation")), documents.Limits{Upload: maxUpload})},
				MaxJSON: 1 << 20, Log: slog.New(slog.DiscardHandler),
			})
			if err != nil {
				t.Fatal(err)
			}
			server := httptest.NewServer(service)
			defer server.Close()
			ctx, leave := context.WithCancel(t.Context())
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL+"/v2/corpora/manuals/"+c.path, strings.NewReader(c.body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("x-api-key", "k")
			r.Header.Set("Content-Type", c.contentType)
			answered := make(chan struct{})
			go func() {
				defer close(answered)
				if got, err := server.Client().Do(r); err == nil {
					got.Body.Close()
					t.Errorf("status %d", got.StatusCode)
				}
			}()
			<-encoder.begun
			leave()
			<-answered
			if err := <-encoder.ended; err == nil {
				t.Error("encoding went on")
			}
			server.Close() // waits for the handler
			after, is := m.Document("d.txt")
			if was != is || m.Corpus.Seq != seq || is && after.Parts[0].Text != before.Parts[0].Text {
				t.Errorf("there: %v, before: %v; change %d, before %d", is, was, m.Corpus.Seq, seq)
			}
		})
	}
}
