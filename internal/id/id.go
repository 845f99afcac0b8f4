// Package id generates identifiers, which are the contract's prefixes followed by random characters, and the secrets
// of API keys. Identifiers that the client chooses (corpus keys, document ids) are plain strings and live with their
// domain.
package id

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"strings"
	"unicode/utf8"
)

// The distinct identifier types. Each is the full text with its prefix.
type (
	Corpus    string // crp_<digits>
	User      string // usr_…
	APIKey    string // aky_…
	Query     string // qry_…
	Upload    string // internal name of an upload in flight
	Job       string // job_…
	AppClient string // app_…
	LLM       string // llm_…
	Preset    string // gnp_…
	Chat      string // cht_…
	Turn      string // trn_…
	Event     string // aev_…

	Instruction string // ins_…
	Tool        string // tol_…
	ToolServer  string // tsr_…
)

// NewCorpus returns a fresh corpus id. The contract's pattern allows digits only.
func NewCorpus() Corpus { return Corpus("crp_" + Digits(15)) }

// NewUser returns a fresh user id.
func NewUser() User { return User("usr_" + Text(20)) }

// NewAPIKey returns a fresh id of an API key (not the key's secret).
func NewAPIKey() APIKey { return APIKey("aky_" + Text(20)) }

// NewAppClient returns a fresh id for managing an application client (not the client id that it signs in with).
func NewAppClient() AppClient { return AppClient("app_" + Text(20)) }

// NewLLM returns a fresh id of a registered language model.
func NewLLM() LLM { return LLM("llm_" + Text(20)) }

// NewPreset returns a fresh id of a generation preset.
func NewPreset() Preset { return Preset("gnp_" + Text(20)) }

// NewJob returns a fresh job id.
func NewJob() Job { return Job("job_" + Text(20)) }

// JobOf returns the id of the job that a call of a tool begins, which is the same one whenever the call is made.
func JobOf(call Event) Job {
	sum := sha256.Sum256([]byte(call))
	return Job("job_" + hex.EncodeToString(sum[:16]))
}

// NewQuery returns a fresh id of a record of the query history.
func NewQuery() Query { return Query("qry_" + Text(20)) }

// NewChat returns fresh ids of a chat and of its first turn, which have the same UUID.
func NewChat() (Chat, Turn) {
	same := uuid()
	return Chat("cht_" + same), Turn("trn_" + same)
}

// NewTurn returns a fresh id of a later turn of a chat.
func NewTurn() Turn { return Turn("trn_" + uuid()) }

// NewInstruction returns a fresh id of an instruction.
func NewInstruction() Instruction { return Instruction("ins_" + Text(20)) }

// NewTool returns a fresh id of a tool.
func NewTool() Tool { return Tool("tol_" + Text(20)) }

// NewToolServer returns a fresh id of a tool server.
func NewToolServer() ToolServer { return ToolServer("tsr_" + Text(20)) }

// NewEvent returns a fresh id of an event of a session.
func NewEvent() Event { return Event("aev_" + uuid()) }

// EventOf returns the id of an event that several processes tell of, made from what they all know.
func EventOf(seed string) Event {
	sum := sha256.Sum256([]byte(seed))
	return Event("aev_" + written([16]byte(sum[:16]), 8))
}

// NewEvents returns what the fresh ids of many events begin with. Twelve digits, different ones for each, make ids of it.
func NewEvents() string { return "aev_" + uuid()[:24] }

// NewSummary returns a fresh key of the summary of a compaction.
func NewSummary() string { return "sum_" + Text(20) }

// uuid returns a random UUID (RFC 9562, version 4).
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return written(b, 4)
}

// written returns bits as a UUID of a version.
func written(b [16]byte, version byte) string {
	b[6] = b[6]&0x0f | version<<4
	b[8] = b[8]&0x3f | 0x80 // the variant
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// NewCompletion returns a fresh id of a chat completion, in the form of OpenAI's interface.
func NewCompletion() string { return "chatcmpl-" + Text(24) }

// NewRequest returns a fresh request id: 128 random bits as 32 lower-case hex digits.
func NewRequest() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// MaxKey is the most characters that a key has which the service makes from a name.
const MaxKey = 50

// Key returns a key made from a name: the prefix, what the name has of letters and digits, or a noun if it has none, and four
// random hex digits.
func Key(prefix, name, noun string) string {
	slug := strings.Trim(strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return r >= utf8.RuneSelf || (r < 'a' || r > 'z') && (r < '0' || r > '9')
	}), "_"), "_")
	slug = cmp.Or(slug, noun)
	var tail [2]byte
	_, _ = rand.Read(tail[:]) // never fails since Go 1.24
	return prefix + slug[:min(len(slug), MaxKey-len(prefix)-len("_0000"))] + "_" + hex.EncodeToString(tail[:])
}

// Text returns n random ASCII letters and digits, log2(62) ≈ 5.95 bits of entropy each.
func Text(n int) string { return random(n, alphabet) }

// Digits returns n random decimal digits, the first of which is not zero.
func Digits(n int) string { return random(1, alphabet[1:10]) + random(n-1, alphabet[:10]) }

func random(n int, from string) string {
	var b strings.Builder
	limit := big.NewInt(int64(len(from)))
	for range n {
		v, _ := rand.Int(rand.Reader, limit) // never fails since Go 1.24
		b.WriteByte(from[v.Int64()])
	}
	return b.String()
}
