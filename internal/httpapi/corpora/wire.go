package corpora

import (
	"quarry/internal/api"
	"quarry/internal/corpus"
	"quarry/internal/opt"
)

// maxMetadataBytes is what the contract's usage object names as the bound of a document's metadata.
const maxMetadataBytes int64 = 10_485_760

// createCommand maps the body of createCorpus.
func createCommand(b *api.CreateCorpusRequest) corpus.Create {
	cmd := corpus.Create{
		Key: b.Key, Name: opt.From(b.Name), Description: opt.From(b.Description), SaveHistory: opt.Deref(b.SaveHistory, false),
		QueriesAreAnswers: opt.Deref(b.QueriesAreAnswers, false), DocumentsAreQuestions: opt.Deref(b.DocumentsAreQuestions, false),
		EncoderName: opt.Deref(b.EncoderName, ""), EncoderID: opt.Deref(b.EncoderId, ""),
	}
	cmd.Attributes = attributeCommands(opt.Deref(b.FilterAttributes, nil))
	for _, d := range opt.Deref(b.CustomDimensions, nil) {
		cmd.Dimensions = append(cmd.Dimensions, corpus.Dimension{
			Name: d.Name, Description: opt.Deref(d.Description, ""),
			IndexingDefault: opt.Deref(d.IndexingDefault, 0), QueryingDefault: opt.Deref(d.QueryingDefault, 0),
		})
	}
	return cmd
}

// attributeCommands maps a list of attributes.
func attributeCommands(all []api.FilterAttribute) (out []corpus.Attribute) {
	for _, f := range all {
		out = append(out, corpus.Attribute{
			Name: f.Name, Level: string(f.Level), Type: string(f.Type),
			Description: opt.Deref(f.Description, ""), Indexed: opt.Deref(f.Indexed, true),
		})
	}
	return out
}

// patchCommand maps the body of updateCorpus.
func patchCommand(b *api.UpdateCorpusRequest) corpus.Patch {
	return corpus.Patch{
		Name: b.Name, Description: b.Description,
		Enabled: b.Enabled, SaveHistory: b.SaveHistory,
	}
}

func wireCorpora(all []corpus.Corpus) *[]api.Corpus {
	out := make([]api.Corpus, len(all))
	for i := range all {
		out[i] = wireCorpus(&all[i])
	}
	return &out
}

// wireCorpus maps a corpus to what clients see.
func wireCorpus(c *corpus.Corpus) api.Corpus {
	created, encoder := c.Created.UTC(), corpus.EncoderID(c.EncoderFingerprint)
	out := api.Corpus{
		Id: string(c.ID), Key: c.Key, Name: c.Name, Description: c.Description, Enabled: &c.Enabled,
		SaveHistory: &c.SaveHistory, ChatHistoryCorpus: new(bool), CreatedAt: &created,
		QueriesAreAnswers: &c.QueriesAreAnswers, DocumentsAreQuestions: &c.DocumentsAreQuestions,
		EncoderName: &c.EncoderName, EncoderId: &encoder,
		FilterAttributes: wireAttributes(c.Attributes), CustomDimensions: wireDimensions(c.Dimensions),
	}
	out.Limits = fresh(out.Limits)
	most, u := maxMetadataBytes, c.Usage
	out.Limits.UsedDocs, out.Limits.UsedParts = &u.Documents, &u.Parts
	out.Limits.UsedCharacters, out.Limits.MaxMetadataBytes = &u.Characters, &most
	return out
}

func wireAttributes(all []corpus.Attribute) *[]api.FilterAttribute {
	out := make([]api.FilterAttribute, len(all))
	for i, a := range all {
		out[i] = api.FilterAttribute{
			Name: a.Name, Level: api.FilterAttributeLevel(a.Level), Type: api.FilterAttributeType(a.Type),
			Indexed: &a.Indexed, Description: opt.NonZero(a.Description),
		}
	}
	return &out
}

func wireDimensions(all []corpus.Dimension) *[]api.CorpusCustomDimension {
	out := make([]api.CorpusCustomDimension, len(all))
	for i, d := range all {
		out[i] = api.CorpusCustomDimension{
			Name: d.Name, Description: opt.NonZero(d.Description),
			IndexingDefault: &d.IndexingDefault, QueryingDefault: &d.QueryingDefault,
		}
	}
	return &out
}

// fresh returns a new value of a type that has no name in the generated models.
func fresh[T any](*T) *T { return new(T) }
