package corpora

import (
	"net/http"

	"quarry/internal/api"
	"quarry/internal/corpus/replica"
	"quarry/internal/httpapi"
)

func (a *Area) index(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	found, err := a.indexes.Look(r.Context(), c.Path["corpus_key"])
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, wireIndex(&found))
}

// rebuildIndex answers with the job that does it.
func (a *Area) rebuildIndex(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	id, err := a.indexes.Request(r.Context(), c.Path["corpus_key"], c.Principal.Name)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, api.RebuildCorpusIndexResponse{JobId: string(id)})
}

// The wire forms of an index. They are not the generated models, whose constants would have names such as api.All.
type (
	indexOut struct {
		Segments    []segmentOut `json:"segments"`
		Applied     int64        `json:"applied"`
		Sequence    int64        `json:"sequence"`
		State       string       `json:"state"`
		MappedBytes int64        `json:"mapped_bytes"`
		HeapBytes   int64        `json:"heap_bytes"`
		Recall      []recallOut  `json:"recall"`
	}
	segmentOut struct {
		Number int      `json:"number"`
		Rows   int      `json:"rows"`
		Live   int      `json:"live"`
		Bytes  int64    `json:"bytes"`
		Lists  int      `json:"lists"`
		Share  *float64 `json:"share,omitempty"` // nil without lists
	}
	recallOut struct {
		Way     string  `json:"way"`
		Queries int     `json:"queries"`
		Mean    float64 `json:"mean"`
	}
)

func wireIndex(l *replica.Look) indexOut {
	out := indexOut{
		Segments: make([]segmentOut, len(l.Each)), Applied: l.Applied, Sequence: l.Sequence, State: string(l.State),
		MappedBytes: l.MappedBytes, HeapBytes: l.HeapBytes, Recall: make([]recallOut, len(l.Recall)),
	}
	for i, s := range l.Each {
		out.Segments[i] = segmentOut{Number: s.Number, Rows: s.Rows, Live: s.Live, Bytes: s.Bytes, Lists: s.Lists}
		if s.Lists > 0 {
			out.Segments[i].Share = &s.Share
		}
	}
	for i, r := range l.Recall {
		out.Recall[i] = recallOut{r.Way, r.Queries, r.Mean}
	}
	return out
}
