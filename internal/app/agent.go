package app

import (
	"context"

	"quarry/internal/agent"
	"quarry/internal/agent/identity"
	"quarry/internal/agent/instruction"
	"quarry/internal/agent/secret"
	"quarry/internal/agent/tool"
	"quarry/internal/agent/tool/catalog"
	"quarry/internal/agent/tool/configuration"
	"quarry/internal/agent/tool/server"
	"quarry/internal/agent/turn"
	"quarry/internal/glossary"
	"quarry/internal/httpapi"
	httpagents "quarry/internal/httpapi/agents"
	httpglossaries "quarry/internal/httpapi/glossaries"
	httpinstructions "quarry/internal/httpapi/instructions"
	httptoolconfigurations "quarry/internal/httpapi/toolconfigurations"
	httptools "quarry/internal/httpapi/tools"
	httptoolservers "quarry/internal/httpapi/toolservers"
	"quarry/internal/llm"
	"quarry/internal/page"
	"quarry/internal/store"
	"quarry/internal/store/agents"
	"quarry/internal/store/glossaries"
	"quarry/internal/store/instructions"
	"quarry/internal/store/secrets"
	"quarry/internal/store/toolconfigurations"
)

// agentRows are what agents and the turns of their sessions read alike.
type agentRows struct {
	agents       *agents.Store
	instructions *instructions.Store
	tools        *toolconfigurations.Store
	glossaries   *glossaries.Store
}

// newAgentRows returns them; needs is what tools name.
func newAgentRows(db *store.DB, sealed *secrets.Store, needs toolconfigurations.Namer) agentRows {
	return agentRows{
		agents.New(db).Sealing(sealed).Naming(needs), instructions.New(db), toolconfigurations.New(db).Sealing(sealed).Naming(needs), glossaries.New(db),
	}
}

// exists returns an error if there is no agent with a key.
func (r agentRows) exists(ctx context.Context, key string) error {
	_, err := r.agents.Get(ctx, key)
	return err
}

// agentServices keep agents.
type agentServices struct {
	agents       *agent.Service
	identities   *identity.Service
	secrets      *secret.Service
	instructions *instruction.Service
	tools        *catalog.Service
	stored       *configuration.Service
	servers      *server.Service
	glossaries   *glossary.Service
}

func newAgent(rows agentRows, identities *identity.Service, models llm.Models, kit tool.Kit, known *catalog.Service, servers *server.Service, turns *turn.Engine) agentServices {
	kept, words := instruction.New(rows.instructions), glossary.New(rows.glossaries)
	return agentServices{
		agents:       agent.New(agent.Config{Store: rows.agents, Models: models, Kit: kit, Stop: turns.DropAgent, Instructions: kept, Glossaries: words, Tools: known, Stored: rows.tools}),
		identities:   identities,
		secrets:      secret.New(rows.agents),
		instructions: kept,
		tools:        known,
		stored:       configuration.New(configuration.Config{Store: rows.tools, Tools: known, Kit: kit, Shape: httptoolconfigurations.Shape, Agent: rows.exists}),
		servers:      servers,
		glossaries:   words,
	}
}

// areas returns the handlers of these services.
func (a agentServices) areas(cursors *page.Cursors) []httpapi.Area {
	return []httpapi.Area{
		httpagents.New(a.agents, a.identities, cursors), httpagents.NewSecrets(a.secrets), httpinstructions.New(a.instructions, cursors), httptools.New(a.tools, cursors),
		httptoolconfigurations.New(a.stored, cursors), httptoolservers.New(a.servers, cursors), httpglossaries.New(a.glossaries, cursors),
	}
}
