package scripted

import (
	"bytes"
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Answer is the default answer of a model.
const Answer = "The answer stands in the first passage [1]."

// Named returns the reply to a call that follows from the name of its model:
//
//	any fault        that fault, such as "cut", "limited", "redirect" (to a metadata address)
//	refusal, length  the model refuses; the answer is cut off by the token limit
//	slow             the first byte comes after a second
//	trickle          a word every 200 ms
//	pace:R:N         N words, R per second
//	stamp:R:N        the same, where each word is the time of sending in nanoseconds
//	say:TEXT         that text
//	echo             the last message of the user
//	body             the request
//	spent            the token limit is used up before the answer begins
//	tokens:IN:OUT    a usage of so many tokens; tokens:IN:OUT:CACHED:REASONING states how many of them these are
//	call:TOOL:JSON   a call of a tool with these arguments; if the request contains a tool's result, the default answer
//	bare:STATUS      an error of that status with an empty body
//	on:WORD:NAME     that of the model NAME if the request contains WORD, else the default answer, so that a model can
//	                 pass the test of its connection and fail later
//
// For any other name it is Answer. A "#" and what follows it in a name are ignored, so that names can be made unique.
func Named(model string, body []byte) Reply {
	model, _, _ = strings.Cut(model, "#")
	name, rest, _ := strings.Cut(model, ":")
	reply := Reply{Text: Answer}
	switch name {
	case "say":
		reply.Text = rest
	case "echo":
		reply.Text = lastText(body)
	case "body":
		reply.Text = string(body)
	case "slow":
		reply.Delay = time.Second
	case "trickle":
		reply.Pace = 200 * time.Millisecond
	case "pace":
		return paced(rest, "word ")
	case "stamp":
		return paced(rest, Stamp+" ")
	case "refusal":
		return Reply{Refusal: "I cannot help with that."}
	case "length":
		reply.Text, reply.Stop = "The answer stands in the", Length
	case "filtered":
		reply.Text, reply.Stop = "", Filtered
	case "spent":
		reply.Text, reply.Stop = "", Length
	case "tokens":
		n := append(strings.Split(rest, ":"), "", "", "", "")
		reply.Usage = Usage{Input: number(n[0]), Output: number(n[1]), Cached: number(n[2]), Reasoning: number(n[3])}
	case "call":
		return calling(rest, body)
	case "on":
		word, then, _ := strings.Cut(rest, ":")
		if word != "" && strings.Contains(withoutModel(body), word) {
			return Named(then, body)
		}
	case string(Bare):
		reply.Fault, reply.Status = Bare, int(number(rest))
	case string(Moved):
		reply.Fault, reply.Message = Moved, cmp.Or(rest, "http://169.254.169.254/latest/meta-data/")
	default:
		if faults[Fault(name)] {
			reply.Fault = Fault(name)
		}
		if name == string(Nothing) {
			reply.Text = ""
		}
	}
	return reply
}

// faults are the faults that a name can select.
var faults = map[Fault]bool{
	Cut: true, Ends: true, Malformed: true, Limited: true, Rejected: true, Denied: true, Unknown: true, Failed: true, Overload: true,
	Late: true, HTML: true, Prose: true, Huge: true, Endless: true, NoUsage: true, Never: true, Leak: true, Nothing: true, Event: true,
}

func number(text string) int64 {
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}

func paced(rest, word string) Reply {
	rate, n, _ := strings.Cut(rest, ":")
	reply := Reply{Pieces: make([]string, max(number(n), 1)), Stamped: word != "word "}
	for i := range reply.Pieces {
		reply.Pieces[i] = word
	}
	if r := number(rate); r > 0 {
		reply.Pace = time.Second / time.Duration(r)
	}
	return reply
}

// withoutModel returns a request without the name of its model, which contains the word of "on".
func withoutModel(body []byte) string {
	var in map[string]any
	if json.Unmarshal(body, &in) != nil {
		return ""
	}
	delete(in, "model")
	return string(encode(in))
}

func calling(rest string, body []byte) Reply {
	if bytes.Contains(body, []byte(`"tool"`)) || bytes.Contains(body, []byte("function_call_output")) ||
		bytes.Contains(body, []byte("tool_result")) || bytes.Contains(body, []byte("functionResponse")) {
		return Reply{Text: Answer}
	}
	tool, arguments, _ := strings.Cut(rest, ":")
	return Reply{Calls: []Call{{ID: "call_1", Name: tool, Pieces: []string{arguments}}}}
}

// lastText returns the text of the user's last message in a request of any format.
func lastText(body []byte) string {
	var in map[string]json.RawMessage
	if json.Unmarshal(body, &in) != nil {
		return ""
	}
	for _, member := range []string{"messages", "input", "contents"} {
		var list []map[string]any
		if json.Unmarshal(in[member], &list) == nil && len(list) > 0 {
			for i := len(list) - 1; i >= 0; i-- {
				if role := list[i]["role"]; role == "user" {
					return strings.Join(texts(list[i]), "\n")
				}
			}
		}
	}
	var plain string
	json.Unmarshal(in["input"], &plain) //nolint:errcheck // OpenAI's responses take a string, too
	return plain
}

// texts returns the strings in the members content, parts and text of v, recursively.
func texts(v any) []string {
	var out []string
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out = append(out, texts(e)...)
		}
	case map[string]any:
		for _, name := range []string{"content", "parts", "text"} {
			if s, ok := v[name].(string); ok {
				out = append(out, s)
				continue
			}
			out = append(out, texts(v[name])...)
		}
	}
	return out
}
