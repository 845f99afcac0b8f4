package sessions

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"quarry/internal/agent/artifact"
	"quarry/internal/httpapi"
	"quarry/internal/page"
)

// Files answers the operations that read the files of sessions.
type Files struct {
	files   *artifact.Service
	cursors *page.Cursors
}

// NewFiles returns the area; cursors sign the page keys.
func NewFiles(s *artifact.Service, cursors *page.Cursors) *Files { return &Files{s, cursors} }

// Handlers implements httpapi.Area.
func (a *Files) Handlers() map[string]httpapi.Handler {
	return map[string]httpapi.Handler{"listSessionArtifacts": a.list, "getSessionArtifact": a.get}
}

// FileResolver checks that the file in a path exists.
func FileResolver(s *artifact.Service) httpapi.Resolver {
	return func(ctx context.Context, c *httpapi.Call) (err error) {
		p := placed(c)
		p.file, err = s.Get(ctx, p.session.No, c.Path["artifact_id"])
		c.Found = p
		return err
	}
}

func (a *Files) list(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	scope := c.Scope("sort_by", "order_by")
	no := placed(c).session.No
	scope.Filters["session"] = strconv.FormatInt(no, 10)
	after, err := c.After(a.cursors, &scope)
	if err != nil {
		return err
	}
	found, next, err := a.files.Find(r.Context(), artifact.List{
		Session: no, ByChange: scope.Filters["sort_by"] == "updated_at", Oldest: scope.Filters["order_by"] == "asc", After: after, Limit: c.Limit(),
	})
	if err != nil {
		return err
	}
	out := artifactsBody{Artifacts: make([]artifactBody, len(found))}
	for i := range found {
		out.Artifacts[i] = wireArtifact(&found[i])
	}
	out.Metadata.PageKey = a.cursors.Next(scope, next)
	return httpapi.WriteJSON(w, http.StatusOK, out)
}

// get writes the file as it is read. All of it was checked before, so what is written is what was stored.
func (a *Files) get(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	file := placed(c).file
	content, err := a.files.Open(r.Context(), &file)
	if err != nil {
		return err
	}
	defer func() { _ = content.Close() }() // it was read
	head, err := json.Marshal(wireArtifact(&file))
	if err != nil {
		return fmt.Errorf("encode artifact: %w", err)
	}
	before, behind := append(head[:len(head)-1], `,"data":"`...), "\"}\n"
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(before)+base64.StdEncoding.EncodedLen(int(file.Size))+len(behind)))
	w.WriteHeader(http.StatusOK)
	to := &paced{to: w, conn: http.NewResponseController(w)}
	defer func() { _ = to.conn.SetWriteDeadline(time.Time{}) }() // the connection may go on to other requests
	if _, err := to.Write(before); err != nil {
		return nil // the client is gone, like below
	}
	encoder := base64.NewEncoder(base64.StdEncoding, to)
	_, err = io.CopyBuffer(struct{ io.Writer }{encoder}, struct{ io.Reader }{content}, make([]byte, readAtOnce))
	if err == nil {
		err = encoder.Close()
	}
	if err == nil {
		_, err = io.WriteString(to, behind)
	}
	if to.failed {
		return nil
	}
	return err // the client finds fewer bytes than were announced
}

const (
	// readAtOnce is how much of a file is held, a multiple of three so that base64 needs no more.
	readAtOnce = 192 << 10
	// slowest is how long a client may take to read one piece of a file.
	slowest = 30 * time.Second
)

// paced writes to clients that read; one that doesn't must not hold a file open.
type paced struct {
	to     io.Writer
	conn   *http.ResponseController
	failed bool
}

// Write writes one piece.
func (p *paced) Write(b []byte) (int, error) {
	_ = p.conn.SetWriteDeadline(time.Now().Add(slowest)) // tests have no connection
	n, err := p.to.Write(b)
	p.failed = err != nil
	return n, err
}
