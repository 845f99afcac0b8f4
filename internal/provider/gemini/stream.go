package gemini

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strings"

	"quarry/internal/llm"
	"quarry/internal/provider"
)

// chunk is a piece of the stream; a whole answer has the same form.
type chunk struct {
	Candidates []struct {
		Content struct {
			Parts []answered `json:"parts"`
		} `json:"content"`
		FinishReason  string `json:"finishReason"`
		FinishMessage string `json:"finishMessage"`
	} `json:"candidates"`
	PromptFeedback struct {
		BlockReason        string `json:"blockReason"`
		BlockReasonMessage string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage        *usage          `json:"usageMetadata"`
	ModelVersion string          `json:"modelVersion"`
	ResponseID   string          `json:"responseId"`
	Error        json.RawMessage `json:"error"`
}

// answered is a part of an answer, whose text may be cut within a character.
type answered struct {
	part
	Text provider.Text `json:"text"`
}

type usage struct {
	Prompt     int64 `json:"promptTokenCount"`
	ToolPrompt int64 `json:"toolUsePromptTokenCount"`
	Cached     int64 `json:"cachedContentTokenCount"`
	Candidates int64 `json:"candidatesTokenCount"`
	Thoughts   int64 `json:"thoughtsTokenCount"`
}

// usage returns the counts with thoughts as output, as Google bills them.
func (u *usage) usage() llm.Usage {
	if u == nil {
		return llm.Usage{Estimated: true}
	}
	return llm.Usage{Input: u.Prompt + u.ToolPrompt, Cached: u.Cached, Output: u.Candidates + u.Thoughts, Reasoning: u.Thoughts}
}

// reader puts an answer together. It is for one call.
type reader struct {
	b     *provider.Builder
	resp  *provider.Response
	model string // as requested
	form  bool   // the text is to be JSON
	asked bool   // and only the prompt asks for it, so it is passed on when it is complete

	text    strings.Builder // with form
	usage   *usage
	stop    string
	message string
}

// feed reads a chunk or, from servers that don't know alt=sse, a list of them.
func (r *reader) feed(data []byte) error {
	text := bytes.TrimSpace(data)
	if string(text) == "[DONE]" {
		return nil // gateways end streams that way
	}
	if !bytes.HasPrefix(text, []byte("[")) {
		return r.chunk(data)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(data, &list); err != nil {
		return r.resp.BadEvent(err)
	}
	for _, one := range list {
		if err := r.chunk(one); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) chunk(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return r.resp.BadEvent(err)
	}
	if provider.Present(c.Error) {
		return r.resp.Reported(data)
	}
	if c.ModelVersion != "" {
		r.b.Answer.Model = c.ModelVersion
	}
	if c.ResponseID != "" {
		r.b.Answer.ID = c.ResponseID
	}
	if c.Usage != nil {
		r.usage = c.Usage
	}
	if p := c.PromptFeedback; p.BlockReason != "" && p.BlockReason != "BLOCKED_REASON_UNSPECIFIED" {
		r.stop, r.message = "SAFETY", provider.Join(p.BlockReasonMessage, p.BlockReason)
	}
	if len(c.Candidates) == 0 {
		return nil
	}
	one := c.Candidates[0]
	for _, p := range one.Content.Parts {
		if err := r.part(p); err != nil {
			return err
		}
	}
	if one.FinishReason != "" {
		r.stop, r.message = one.FinishReason, one.FinishMessage
	}
	return nil
}

func (r *reader) part(p answered) error {
	text := string(p.Text)
	switch {
	case p.FunctionCall != nil:
		c := p.FunctionCall
		return r.b.Call(llm.ToolCall{ID: cmp.Or(c.ID, newID()), Name: c.Name, Arguments: c.Args, State: callState(r.model, p.ThoughtSignature)})
	case p.Thought:
		return r.b.Reasoning(text)
	case r.form:
		r.text.WriteString(text)
		if r.asked {
			return nil
		}
	}
	return r.b.Text(text)
}

// newID returns an id for a call that came without one. Results name their call by it, so it must differ from those of
// earlier turns.
func newID() string {
	var b [9]byte
	_, _ = rand.Read(b[:]) // never fails
	return ownID + hex.EncodeToString(b[:])
}

// finish sets why the model stopped and the usage when the stream has ended.
func (r *reader) finish() error {
	a := &r.b.Answer
	a.Usage = r.usage.usage()
	switch r.stop {
	case "":
		return r.resp.CutOff()
	case "STOP", "FINISH_REASON_UNSPECIFIED":
		a.Reason = llm.Stop
		return r.settle()
	case "MAX_TOKENS":
		a.Reason = llm.Length
		if r.asked && r.b.Partial() && len(a.Calls) == 0 {
			return r.b.Text(r.text.String())
		}
		return nil
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE", "OTHER", "CONTINUATION":
		// The model made a mistake and may do better when asked again.
		e := r.resp.Failed(llm.Broken, "it stopped for the reason "+provider.Join(r.stop, r.message))
		e.Status = 0
		return e
	}
	// SAFETY, RECITATION, LANGUAGE, BLOCKLIST, PROHIBITED_CONTENT, SPII, IMAGE_…, and reasons added later.
	a.Reason, a.Refusal = llm.Refused, cmp.Or(r.message, r.stop)
	return nil
}

// settle passes on structured output that can only be read as a whole, and fails if it is not JSON.
func (r *reader) settle() error {
	if !r.form || len(r.b.Answer.Calls) > 0 {
		return nil
	}
	text, ok := provider.BareJSON(r.text.String())
	if text != "" && !ok {
		return r.resp.Failed(llm.Broken, "its answer is not the JSON that was asked for")
	}
	if !r.asked {
		return nil
	}
	return r.b.Text(text)
}
