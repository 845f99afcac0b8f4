package app

import (
	"maps"

	"quarry/internal/chat"
	"quarry/internal/httpapi"
	httpagents "quarry/internal/httpapi/agents"
	httpanalytics "quarry/internal/httpapi/analytics"
	httpchats "quarry/internal/httpapi/chats"
	httpcorpora "quarry/internal/httpapi/corpora"
	httpglossaries "quarry/internal/httpapi/glossaries"
	httpinstructions "quarry/internal/httpapi/instructions"
	httpsessions "quarry/internal/httpapi/sessions"
	httptoolconfigurations "quarry/internal/httpapi/toolconfigurations"
	httptools "quarry/internal/httpapi/tools"
	httptoolservers "quarry/internal/httpapi/toolservers"
	"quarry/internal/query"
	"quarry/internal/store"
	"quarry/internal/store/chats"
)

// newChat keeps conversations and answers their questions.
func newChat(db *store.DB, queries *query.Service) *chat.Service {
	return chat.New(chat.Config{Store: chats.New(db), Queries: queries})
}

// resolvers find what paths name.
func resolvers(c *corpusServices, s *chat.Service, a agentServices, x sessionServices, m metricServices) map[string]httpapi.Resolver {
	out := httpchats.Resolvers(s)
	maps.Copy(out, httpsessions.Resolvers(x.sessions))
	maps.Copy(out, httptoolconfigurations.Resolvers(a.stored))
	maps.Copy(out, httpglossaries.Resolvers(a.glossaries))
	maps.Copy(out, map[string]httpapi.Resolver{
		"corpus_key": httpcorpora.Resolver(c.containers), "agent_key": httpagents.Resolver(a.agents), "instruction_id": httpinstructions.Resolver(a.instructions),
		"artifact_id": httpsessions.FileResolver(x.files), "metric_name": httpanalytics.MetricResolver(m.metrics),
		"tool_id": httptools.Resolver(a.tools), "tool_server_id": httptoolservers.Resolver(a.servers),
	})
	return out
}
