package glossaries

import (
	"encoding/json"

	"quarry/internal/api"
	"quarry/internal/glossary"
	"quarry/internal/httpapi"
	"quarry/internal/opt"
)

func wire(g *glossary.Glossary) api.Glossary {
	return api.Glossary{
		Key: g.Key, Name: g.Name, Description: opt.NonZero(g.Description), NumEntries: &g.Entries, CreatedAt: &g.Created, UpdatedAt: &g.Updated,
	}
}

// parse decodes a checked body of CreateGlossaryRequest, which has all members of UpdateGlossaryRequest.
func parse(raw json.RawMessage) (key string, c glossary.Change, err error) {
	var create api.CreateGlossaryRequest
	var update api.UpdateGlossaryRequest
	if err := httpapi.Decode(raw, &create); err != nil {
		return "", c, err
	}
	if err := httpapi.Decode(raw, &update); err != nil {
		return "", c, err
	}
	return opt.Deref(create.Key, ""), glossary.Change{Name: opt.From(update.Name), Description: opt.From(update.Description)}, nil
}

func wireEntries(found []glossary.Entry) api.GlossaryEntriesResponse {
	out := api.GlossaryEntriesResponse{Entries: make([]api.GlossaryEntry, len(found))}
	for i, e := range found {
		out.Entries[i] = api.GlossaryEntry{Term: e.Term, Expansion: e.Expansion}
	}
	return out
}
