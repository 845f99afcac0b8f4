package agent

import (
	"fmt"
	"net/http"

	"quarry/internal/cli/command"
)

type forkCmd struct {
	oneSession
	Into    string `help:"Agent that the new session is with; default: the same." placeholder:"AGENT"`
	Key     string `help:"Key of the new session; default: generated." name:"new-key" placeholder:"KEY" wire:"key"`
	Name    string `help:"Readable name of the new session." wire:"name"`
	UpTo    string `help:"The last event that is copied; default: all are." placeholder:"EVENT" wire:"from_session.include_up_to_event_id" xor:"anchor"`
	Compact string `help:"The last event that is summed up; later ones are copied." placeholder:"EVENT" wire:"from_session.compact_up_to_event_id" xor:"anchor"`
}

func (forkCmd) Help() string {
	return "The new session goes on from the other one, which stays as it is. Hidden events, secrets and metadata are not copied.\n\n" +
		"Example: quarry session fork support ase_4b1e --compact aev_5f0e2a64-7c1b-4d0e-9a53-2b8c6f1d7e90"
}

func (c *forkCmd) Run(e *command.Env) error {
	into := c.Into
	if into == "" {
		into = c.Agent
	}
	from := command.Given(map[string]any{
		"agent_key": c.Agent, "session_key": c.Session, "include_up_to_event_id": c.UpTo, "compact_up_to_event_id": c.Compact,
	})
	body := command.Given(map[string]any{"key": c.Key, "name": c.Name})
	body["from_session"] = from
	_, err := command.Send(e, c.Remote, http.MethodPost, sessionsPath(into), body, func(v *sessionView) {
		fmt.Fprintf(e.Out, "created session %s; to go on with it: quarry agent chat %s --session %s\n", v.Key, into, v.Key)
	})
	return err
}

type compactCmd struct {
	oneSession
	UpTo    string `help:"The last event that is summed up; default: all but the last turns, as many as the agent keeps." placeholder:"EVENT" wire:"compact_up_to_event_id"`
	Message string `help:"What the summary should heed, or @FILE to read it from a file." placeholder:"TEXT|@FILE" wire:"compaction_message"`
}

func (compactCmd) Help() string {
	return "The events that the summary stands for are hidden: quarry session events --hidden lists them. Waits for a turn that runs.\n\n" +
		"Example: quarry session compact support ase_4b1e --message 'Keep all order numbers.'"
}

func (c *compactCmd) Run(e *command.Env) error {
	message, err := command.Text("the guidance", c.Message)
	if err != nil {
		return err
	}
	body := command.Given(map[string]any{"compact_up_to_event_id": c.UpTo, "compaction_message": message})
	body["type"] = "compact"
	_, err = command.Send(e, c.Remote, http.MethodPost, c.path()+"/events", body, func(v *struct {
		Events []summed `json:"events"`
	}) {
		for _, s := range v.Events {
			fmt.Fprintf(e.Out, "%s of %s summed up as %s\n", command.Count(s.Events, "event"), command.Count(s.Turns, "turn"), s.ID)
			fmt.Fprintln(e.Out, s.Text)
		}
	})
	return err
}

// summed is the part of an event compaction that is shown.
type summed struct {
	ID     string `json:"id"`
	Turns  int64  `json:"turns_compacted"`
	Events int64  `json:"events_compacted"`
	Text   string `json:"summary_text"`
}
