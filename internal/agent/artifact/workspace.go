package artifact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"quarry/internal/blob"
	"quarry/internal/fault"
)

// Workspace is what a call of a tool sees of the files of its session, and the files that the call makes. Those get their rows
// with the output of the call. Safe for concurrent use.
type Workspace struct {
	service *Service
	session int64
	call    string

	mu     sync.Mutex
	made   []Artifact // guarded by mu, like what follows
	shown  []Shown
	closed bool // the call has ended: no further files
}

// Workspace returns the workspace of a call in a session. A call that is made again after a kill is to have the same name:
// then its files have the same ids.
func (s *Service) Workspace(session int64, call string) *Workspace {
	return &Workspace{service: s, session: session, call: call}
}

// Get returns a file of the session, or one that the call has made; fault.KindNotFound "artifact_not_found" for none.
func (w *Workspace) Get(ctx context.Context, id string) (Artifact, error) {
	w.mu.Lock()
	i := slices.IndexFunc(w.made, func(a Artifact) bool { return a.ID == id })
	if i >= 0 {
		defer w.mu.Unlock()
		return w.made[i], nil
	}
	w.mu.Unlock()
	return w.service.Get(ctx, w.session, id)
}

// Open returns a file and its bytes, all of which were checked. The caller closes them.
func (w *Workspace) Open(ctx context.Context, id string) (Artifact, *blob.Content, error) {
	a, err := w.Get(ctx, id)
	if err != nil {
		return Artifact{}, nil, err
	}
	content, err := w.service.Open(ctx, &a)
	return a, content, err
}

// errEnded is the error of a file that a tool makes behind its call.
var errEnded = errors.New("the call that makes the file has ended")

// Create keeps a new file of what r holds. Its bytes are durable when it returns; its row is written with the output of the call,
// and there is no file if the call fails.
func (w *Workspace) Create(ctx context.Context, n New, r io.Reader) (Artifact, error) {
	a, err := w.service.Put(ctx, n, r)
	if errors.Is(err, ErrTooLarge) {
		return Artifact{}, fault.TooLarge("the file has more than %d bytes, the setting max_artifact of this service", w.service.Most)
	}
	if err != nil {
		return Artifact{}, err
	}
	if err := w.add(ctx, &a); err != nil {
		w.service.Release(ctx, a)
		return Artifact{}, err
	}
	return a, nil
}

// add sets the id of a file and keeps it for the output of the call.
func (w *Workspace) add(ctx context.Context, a *Artifact) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for try := 0; ; try++ {
		a.ID = newID(a.Filename, fmt.Sprintf("%d/%s/%d/%d", w.session, w.call, len(w.made), try))
		_, err := w.service.Get(ctx, w.session, a.ID)
		taken := slices.ContainsFunc(w.made, func(x Artifact) bool { return x.ID == a.ID })
		switch {
		case err == nil || taken:
			continue
		case !fault.Is(err, fault.KindNotFound):
			return err
		case w.closed:
			return errEnded
		}
		w.made = append(w.made, *a)
		return nil
	}
}

// Shown is an image that the model is to see.
type Shown struct {
	ID     string // of the file
	Detail string // how closely the model looks: auto, low or high
}

// Show has the model see an image from the output of the call on, unless the call fails.
func (w *Workspace) Show(s Shown) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.shown = append(w.shown, s)
	}
}

// Shown returns what the model is to see. A nil workspace has nothing.
func (w *Workspace) Shown() []Shown {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.shown)
}

// Share returns a copy of a file for another session, under the same id. Its bytes are held: whoever shares it writes the row of the
// copy, if any, and calls Unshare.
func (w *Workspace) Share(ctx context.Context, id string) (Artifact, error) {
	a, content, err := w.Open(ctx, id)
	if err != nil {
		return Artifact{}, err
	}
	defer content.Close()
	made, err := w.service.Put(ctx, New{Filename: a.Filename, MIME: a.MIME, Description: a.Description, Metadata: a.Metadata}, content)
	made.ID = a.ID
	return made, err
}

// Unshare ends the holds of files that were shared.
func (w *Workspace) Unshare(ctx context.Context, files []Artifact) {
	if w != nil {
		w.service.Release(ctx, files...)
	}
}

// Take ends the making of files and returns those that were made: the call has ended. A nil workspace has none.
func (w *Workspace) Take() []Artifact {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	return w.made
}

// Release ends the holds of the files that were made, whose rows are written by then or never will be.
func (w *Workspace) Release(ctx context.Context) {
	if w != nil {
		w.service.Release(ctx, w.Take()...)
	}
}
