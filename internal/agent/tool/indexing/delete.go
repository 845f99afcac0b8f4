package indexing

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"quarry/internal/agent/tool"
	"quarry/internal/corpus/bulk"
	"quarry/internal/id"
	"quarry/internal/room"
)

const deleteDescription = "Removes documents from a corpus for good: those with the document_ids, those that pass the metadata_filter, or, with both, those of the " +
	"ids that pass. It returns when no search shows them any more. Ids that no document has are skipped. At most 10,000 documents go in one call; if more " +
	"are selected, nothing is deleted."

// maxDeleted is how many documents one call deletes at most (contract: Limits/delete_documents).
const maxDeleted = 10_000

// failed is a document that was to be deleted and is there.
type failed struct {
	ID    string `json:"document_id"`
	Error string `json:"error"`
}

// delete is Tool.Run of delete_documents.
func (s *service) delete(ctx context.Context, c tool.Call, _ tool.Activity) (json.RawMessage, error) {
	var args struct {
		Corpus string    `json:"corpus_key"`
		IDs    *[]string `json:"document_ids"`
		Filter string    `json:"metadata_filter"`
	}
	if err := begin(&c, &args, &args.Corpus); err != nil {
		return nil, err
	}
	sel := bulk.Selection{Corpus: args.Corpus, Filter: strings.TrimSpace(args.Filter), CreatedBy: c.Agent}
	switch {
	case args.IDs == nil && sel.Filter == "":
		return nil, invalid("give document_ids or metadata_filter, to say which documents are meant; nothing was deleted")
	case args.IDs != nil && len(*args.IDs) == 0: // it must not fall back to the filter
		return nil, invalid("document_ids names no document; leave it out to select by metadata_filter alone; nothing was deleted")
	case args.IDs != nil:
		sel.IDs = *args.IDs
	}
	// The job goes on if the call doesn't, and is enqueued on a full disk, too.
	freeing := room.Freeing(ctx)
	done, err := c.Intend(freeing, deletion(&sel))
	if err != nil {
		return nil, err
	}
	chosen, err := s.choose(freeing, &c, sel)
	if done(err); err != nil {
		return nil, err
	}
	var counts bulk.Counts
	if chosen.Job != "" {
		within, done := early(ctx)
		defer done()
		if counts, err = s.Bulk.Wait(within, chosen.Begun); err != nil {
			return nil, err
		}
	}
	out := struct {
		Deleted int64    `json:"deleted"`
		Skipped []string `json:"skipped"`
		Failed  []failed `json:"failed"`
	}{counts.Done, absent(sel.IDs, chosen.IDs), []failed{}}
	if counts.Done < int64(len(chosen.IDs)) {
		left, err := s.Bulk.Left(ctx, args.Corpus, chosen.IDs)
		if err != nil {
			return nil, err
		}
		for _, one := range left {
			out.Failed = append(out.Failed, failed{one, "was changed while the documents were deleted, and stays; call again if it is meant as it is now"})
		}
	}
	raw, err := encode(out)
	if err == nil && len(out.Failed) > 0 {
		return nil, &tool.Partial{Output: raw, Class: tool.ExecutionError}
	}
	return raw, err
}

// deletion returns how clients do a deletion.
func deletion(sel *bulk.Selection) tool.Deed {
	target := map[string]string{"corpus_key": sel.Corpus}
	if sel.Filter != "" {
		target["metadata_filter"] = sel.Filter
	}
	if len(sel.IDs) > 0 {
		target["document_ids"] = strings.Join(sel.IDs, ",")
	}
	return tool.Deed{Operation: "bulkDeleteCorpusDocuments", Target: target}
}

// choose begins the deletion, or finds the one that the call has begun before a kill.
func (s *service) choose(ctx context.Context, c *tool.Call, sel bulk.Selection) (bulk.Chosen, error) {
	which := id.JobOf(c.Event)
	if c.Again {
		if d, ok, err := s.Bulk.Resume(ctx, which); ok || err != nil {
			return d, err
		}
	}
	return s.Bulk.DeleteChosen(ctx, which, sel, maxDeleted)
}

// absent returns those of the ids that were not chosen, each once: there is no such document, or it doesn't pass the filter.
func absent(ids, chosen []string) []string {
	out := []string{}
	taken := make(map[string]bool, len(chosen))
	for _, one := range chosen {
		taken[one] = true
	}
	for _, one := range ids {
		if !taken[one] && !slices.Contains(out, one) {
			out = append(out, one)
		}
	}
	return out
}
