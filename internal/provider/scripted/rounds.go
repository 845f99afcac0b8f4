package scripted

import (
	"fmt"

	"quarry/internal/provider/scripted/transcript"
)

// Rounds returns a reply that depends on the transcript alone, so that a call which is made again gets the same: the first
// of replies to the user's last message, the next after that, and after the last one the last again. Calls without an id
// get one that no earlier call of the transcript has.
func Rounds(replies ...Reply) func(*transcript.Transcript) Reply {
	return func(t *transcript.Transcript) Reply {
		if len(replies) == 0 {
			return Reply{Text: Answer}
		}
		reply := replies[min(t.Round(), len(replies)-1)]
		calls := make([]Call, len(reply.Calls))
		for i, c := range reply.Calls {
			if c.ID == "" {
				c.ID = fmt.Sprintf("call_%d", t.Calls()+i+1)
			}
			calls[i] = c
		}
		reply.Calls = calls
		return reply
	}
}
