package jobs

import (
	"time"

	"quarry/internal/api"
	"quarry/internal/corpus/bulk"
	"quarry/internal/job"
	"quarry/internal/opt"
)

func wireJobs(all []job.Job) *[]api.Job {
	out := make([]api.Job, len(all))
	for i := range all {
		out[i] = wireJob(&all[i])
	}
	return &out
}

// wireJob maps a job to what clients see.
func wireJob(j *job.Job) api.Job {
	kind := api.JobType(j.Type)
	if !kind.Valid() {
		kind = "unknown"
	}
	state, keys, created := api.JobState(j.State), append([]string{}, j.CorpusKeys...), j.Created
	return api.Job{
		Id: string(j.ID), Type: &kind, State: &state, CorpusKeys: &keys, CreatedAt: &created,
		StartedAt: opt.NonZero(j.Started), CompletedAt: opt.NonZero(j.Completed), CreatedByUsername: opt.NonZero(j.CreatedBy), Comment: opt.NonZero(j.Comment),
	}
}

// cutoff is shown where the filter selects.
func cutoff(b bulk.Begun) *time.Time {
	if !b.Filtered {
		return nil
	}
	return &b.Began
}

func wireDeleting(b bulk.Begun) api.BulkDeleteAsyncResponse {
	return api.BulkDeleteAsyncResponse{
		Type: "async", ResponseType: "async", JobId: string(b.Job), CutoffAt: cutoff(b), CutoffTimestamp: b.Began,
	}
}

func wireDeleted(b bulk.Begun, n bulk.Counts) api.BulkDeleteSyncSuccessResponse {
	return api.BulkDeleteSyncSuccessResponse{
		Type: "success", ResponseType: "success", JobId: string(b.Job), CutoffAt: cutoff(b), CutoffTimestamp: b.Began,
		DeletedCount: n.Done, SkippedCount: n.Skipped, FailedCount: n.Failed,
	}
}

func wireUpdating(b bulk.Begun) api.BulkUpdateDocumentMetadataAsyncResponse {
	return api.BulkUpdateDocumentMetadataAsyncResponse{Type: "async", JobId: string(b.Job), CutoffAt: cutoff(b)}
}

func wireUpdated(b bulk.Begun, n bulk.Counts) api.BulkUpdateDocumentMetadataSyncSuccessResponse {
	return api.BulkUpdateDocumentMetadataSyncSuccessResponse{
		Type: "success", JobId: string(b.Job), CutoffAt: cutoff(b),
		UpdatedCount: n.Done, SkippedCount: n.Skipped, FailedCount: n.Failed,
	}
}
