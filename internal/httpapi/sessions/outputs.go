package sessions

import (
	"encoding/json"
	"net/http"

	"quarry/internal/agent/session"
	"quarry/internal/agent/session/answer"
	"quarry/internal/agent/tool/mask"
	"quarry/internal/agent/turn"
	"quarry/internal/fault"
	"quarry/internal/httpapi"
	"quarry/internal/id"
)

// outputBody is CreateToolOutputRequest.
type outputBody struct {
	Type   string          `json:"type"`
	Call   string          `json:"event_id"`
	Output json.RawMessage `json:"output"`
	Error  json.RawMessage `json:"error"`
}

// given returns the outputs of calls that the client has made.
func (b *inputBody) given() ([]answer.Given, error) {
	if len(b.Outputs) == 0 {
		return nil, fault.InvalidField("tool_outputs", "must have at least one output")
	}
	out := make([]answer.Given, len(b.Outputs))
	for i, o := range b.Outputs {
		out[i] = answer.Given{Call: id.Event(o.Call), Output: o.Output}
		if o.Type == "error" {
			out[i].Output, out[i].Failed = o.Error, true
		}
	}
	return out, nil
}

// outputs takes the outputs of calls that the client has made, and answers with what follows.
func (a *Turns) outputs(w http.ResponseWriter, r *http.Request, c *httpapi.Call, body *inputBody) error {
	given, err := body.given()
	if err != nil {
		return fault.Under(err, "body")
	}
	p := placed(c)
	leave, full := c.Turn(r.Context())
	if full != nil && !fault.Is(full, fault.KindLimited) {
		return full
	}
	sent, partly, err := a.engine.Answer(r.Context(), turn.Outputs{Session: p.session.No, Given: given, Whole: !body.Stream, Leave: leave, Full: full})
	if err != nil {
		return fault.Under(err, "body")
	}
	if sent != nil {
		defer sent.Close()
		return a.reply(w, r, c, body.Stream, sent)
	}
	out := answerBody{Events: []any{}, Key: p.session.Key}
	for i := range partly {
		out.Events = append(out.Events, wireFrame(p.session.Key, &partly[i]))
	}
	return all(w, c, body.Stream, out)
}

// outstanding answers with the calls that the session waits for.
func (a *Turns) outstanding(w http.ResponseWriter, r *http.Request, c *httpapi.Call) error {
	calls, err := a.engine.Outstanding(r.Context(), placed(c).session.No)
	if err != nil {
		return err
	}
	return httpapi.WriteJSON(w, http.StatusOK, outstandingBody{wirePending(calls)})
}

// outstandingBody is OutstandingClientToolCallsResponse.
type outstandingBody struct {
	Calls []pendingBody `json:"client_tool_calls"`
}

// pendingBody is ClientToolPendingCall.
type pendingBody struct {
	Event         string          `json:"event_id"`
	Configuration string          `json:"tool_configuration_name"`
	Tool          string          `json:"tool_name"`
	Arguments     json.RawMessage `json:"arguments"`
}

func wirePending(calls []session.Pending) []pendingBody {
	out := make([]pendingBody, len(calls))
	for i, c := range calls {
		out[i] = pendingBody{string(c.Event), c.Tool, c.ToolName, c.Arguments}
	}
	return out
}

// masked returns calls as they are shown to those who may read a session and not answer for it.
func masked(calls []session.Pending) []session.Pending {
	out := make([]session.Pending, len(calls))
	for i, c := range calls {
		c.Arguments = mask.New(c.Secrets...).JSON(c.Arguments)
		out[i] = c
	}
	return out
}
