package scripted

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"quarry/internal/provider/scripted/transcript"
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
//	rounds:JSON      the replies of this list, see Rounds: objects with the members text, reasoning, calls (each with name and
//	                 arguments, and id), refusal, stop, pace (pieces per second), delay_ms and fault. The list may also be
//	                 an object of lists by a word of the user's last message, where "" stands for any other. In a text,
//	                 {images} stands for the images in the request
//	told             the same, where the last message of the user is the list, beginning with "["
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
		reply.Text = transcript.Read(body).Question()
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
	case "rounds":
		return rounds(rest, body)
	case "told":
		if list := transcript.Read(body).Question(); strings.HasPrefix(list, "[") {
			return rounds(list, body)
		}
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

// round is a reply in the name of a model.
type round struct {
	Text      string `json:"text"`
	Reasoning string `json:"reasoning"`
	Calls     []struct {
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"calls"`
	Refusal string `json:"refusal"`
	Stop    Stop   `json:"stop"`
	Pace    int64  `json:"pace"`
	Delay   int64  `json:"delay_ms"`
	Fault   Fault  `json:"fault"`
}

func (r round) reply() Reply {
	out := Reply{Text: r.Text, Reasoning: r.Reasoning, Refusal: r.Refusal, Stop: r.Stop, Fault: r.Fault, Delay: time.Duration(r.Delay) * time.Millisecond}
	if r.Pace > 0 {
		out.Pace = time.Second / time.Duration(r.Pace)
	}
	for _, c := range r.Calls {
		out.Calls = append(out.Calls, Call{ID: c.ID, Name: c.Name, Pieces: []string{cmp.Or(string(c.Arguments), "{}")}})
	}
	return out
}

// rounds replies to a conversation from a list of replies, or from one of several that are chosen by the question.
func rounds(text string, body []byte) Reply {
	t := transcript.Read(body)
	var list []round
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		var by map[string][]round
		if err := json.Unmarshal([]byte(text), &by); err != nil {
			return Reply{Fault: Rejected, Message: "The name of the model is no list of replies: " + err.Error()}
		}
		list = by[""]
		for _, word := range slices.Sorted(maps.Keys(by)) {
			if word != "" && strings.Contains(t.Question(), word) {
				list = by[word]
				break
			}
		}
	}
	var replies []Reply
	for _, r := range list {
		r.Text = strings.ReplaceAll(r.Text, "{images}", images(t))
		replies = append(replies, r.reply())
	}
	return Rounds(replies...)(t)
}

// images describes the images in a request.
func images(t *transcript.Transcript) string {
	out := make([]string, len(t.Images))
	for i, one := range t.Images {
		out[i] = strings.TrimSpace(fmt.Sprintf("%s of %d bytes %s", one.MIME, len(one.Data), one.Detail))
	}
	return strings.Join(out, ", ")
}
