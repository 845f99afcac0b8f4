// Package config holds the settings of a running service: defaults, a YAML file, environment variables and flags,
// each overriding the one before. It reads and checks; it opens nothing.
package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"quarry/internal/llm/registry"
	"quarry/internal/origin"
	"quarry/internal/outbound"
	"quarry/internal/secret/seal"
)

// Config is every setting. Sizes are bytes.
type Config struct {
	Data     string `yaml:"data"`
	Listen   string `yaml:"listen"`
	Database string `yaml:"database"`
	Kernel   string `yaml:"kernel"`
	// Log is what the log shows, LogLevel the same by its level; see Level.
	Log       string `yaml:"log"`
	LogLevel  string `yaml:"log_level"`
	LogFormat string `yaml:"log_format"`
	// TLSCert and TLSKey are files in PEM, both or none.
	TLSCert   string `yaml:"tls_cert"`
	TLSKey    string `yaml:"tls_key"`
	MaxJSON   int64  `yaml:"max_json"`
	MaxUpload int64  `yaml:"max_upload"`
	// KeepFiles keeps the bytes of uploaded files with their documents.
	KeepFiles bool `yaml:"keep_files"`
	// KeepImages keeps the embedded pictures of uploaded files as images of their documents.
	KeepImages bool `yaml:"keep_images"`
	// MaxArtifact is how large a file of a session may be.
	MaxArtifact int64 `yaml:"max_artifact"`
	// MaxDeletes is how many documents of one corpus may be in deletion at once.
	MaxDeletes int64 `yaml:"max_deletes"`
	// HistoryDays is how long records of queries are kept.
	HistoryDays int64 `yaml:"history_days"`
	// SecretKey is the secret keys, newest first, separated by commas; empty means the key file. It is never shown.
	SecretKey string `yaml:"secret_key"`
	// PublicURL is where people reach the service, for links; empty means the address it listens on.
	PublicURL string `yaml:"public_url"`
	// SignInHours is how long after password or code a person's access tokens can be renewed.
	SignInHours int64 `yaml:"sign_in_hours"`
	// AllowedOrigins and TrustedProxies are separated by commas; see Origins and Proxies.
	AllowedOrigins string `yaml:"allowed_origins"`
	TrustedProxies string `yaml:"trusted_proxies"`
	// AuditContent records changes of documents and conversations in the audit too.
	AuditContent bool `yaml:"audit_content"`
	// RateLimit and RateBurst bound the requests of one credential; 0 is no limit, and twice the rate.
	RateLimit int64 `yaml:"rate_limit"`
	RateBurst int64 `yaml:"rate_burst"`
	// MaxExpensive and the three after it bound queries, generations and uploads in flight; ExpensiveWait is seconds.
	MaxExpensive        int64 `yaml:"max_expensive"`
	MaxExpensiveTotal   int64 `yaml:"max_expensive_total"`
	MaxExpensiveWaiting int64 `yaml:"max_expensive_waiting"`
	ExpensiveWait       int64 `yaml:"expensive_wait"`
	// LLMPrivate allows language models at private and loopback addresses.
	LLMPrivate bool `yaml:"llm_private"`
	// OutboundAllow is what tools and servers may call at private addresses, separated by commas; see Outbound.
	OutboundAllow string `yaml:"outbound_allow"`
	// WebSearch is what searches the web for agents, tavily or searxng, and WebSearchURL where it is. WebSearchKey is the key of
	// Tavily, which is never shown.
	WebSearch    string `yaml:"web_search"`
	WebSearchURL string `yaml:"web_search_url"`
	WebSearchKey string `yaml:"web_search_key"`
	// TraceDays is how long traces of agents are kept.
	TraceDays int64 `yaml:"trace_days"`
	// OTLPEndpoint is the collector that gets the spans of agents, OTLPHeaders what it is sent with them, which is never shown; see
	// Headers. OTLPContent sends texts, too.
	OTLPEndpoint string `yaml:"otlp_endpoint"`
	OTLPHeaders  string `yaml:"otlp_headers"`
	OTLPContent  bool   `yaml:"otlp_content"`
	// ModelAliases is separated by commas; see Aliases.
	ModelAliases string `yaml:"model_aliases"`
	// ConsistencyJudge names the language model that scores factual consistency; empty means the embedded means.
	ConsistencyJudge string `yaml:"consistency_judge"`
	// MaxRemote and MaxRemoteTotal bound calls that wait for a language model over the network.
	MaxRemote      int64 `yaml:"max_remote"`
	MaxRemoteTotal int64 `yaml:"max_remote_total"`
	// MaxTurns bounds the turns of agents that run at once, one of which goes through at most MaxStepTransitions and calls the
	// model at most MaxModelCalls times.
	MaxTurns           int64 `yaml:"max_turns"`
	MaxStepTransitions int64 `yaml:"max_step_transitions"`
	MaxModelCalls      int64 `yaml:"max_model_calls"`
	// TraceContent is whether traces of agents keep texts.
	TraceContent bool `yaml:"trace_content"`
	// MaxQueryCorpora is how many corpora one query searches at most, those listed twice counted twice.
	MaxQueryCorpora int64 `yaml:"max_query_corpora"`
	// IndexRestMinutes is how long nothing must be written to an index before it is merged into as few segments as possible.
	IndexRestMinutes int64 `yaml:"index_rest_minutes"`
	// ParseMemory is how much memory the process that parses a file holds at most, ParseSeconds how long it may take.
	ParseMemory  int64 `yaml:"parse_memory"`
	ParseSeconds int64 `yaml:"parse_seconds"`
	// Tesseract is the program that recognises text in pictures, OCRLanguages those that it may be in, separated by commas, and OCRPages
	// how many pages of one file are recognised; 0 looks for no such program.
	Tesseract    string `yaml:"tesseract"`
	OCRLanguages string `yaml:"ocr_languages"`
	OCRPages     int64  `yaml:"ocr_pages"`
	// MaxBodies is how much memory bodies of requests take at once.
	MaxBodies int64 `yaml:"max_bodies"`
}

// Setting describes one setting for help, the reference page and the environment.
type Setting struct {
	Key, Env, Help string
	at             func(*Config) any // a pointer to its value: a string, an int64 or a bool
}

func (s Setting) set(c *Config, v string) (err error) {
	switch at := s.at(c).(type) {
	case *string:
		*at = v
	case *int64:
		if *at, err = strconv.ParseInt(v, 10, 64); err != nil {
			return fmt.Errorf("%q is not a number", v)
		}
	case *bool:
		if *at, err = strconv.ParseBool(v); err != nil {
			return fmt.Errorf("%q is neither true nor false", v)
		}
	}
	return nil
}

// get returns the value as it is written in the file.
func (s Setting) get(c *Config) string { return fmt.Sprint(reflect.ValueOf(s.at(c)).Elem()) }

// Settings lists every setting in the order of the reference page.
var Settings = []Setting{
	{"data", "QUARRY_DATA", "data folder: database, indexes, owner.key, secret.key", func(c *Config) any { return &c.Data }},
	{"listen", "QUARRY_LISTEN", "address to listen on: host:port; a port alone is one of this machine, 127.0.0.1; :port and 0.0.0.0:port are every interface", func(c *Config) any { return &c.Listen }},
	{"tls_cert", "QUARRY_TLS_CERT", "file with the certificate for HTTPS and those between it and its CA, PEM; read anew when it changes; empty means HTTP", func(c *Config) any { return &c.TLSCert }},
	{"tls_key", "QUARRY_TLS_KEY", "file with the private key of `tls_cert`, PEM, without a passphrase; read anew when it changes", func(c *Config) any { return &c.TLSKey }},
	{"public_url", "QUARRY_PUBLIC_URL", "where people reach the service, such as https://search.example.com, for the links of one-time codes and as the issuer of access tokens; empty means the address it listens on, and an issuer made from the database", func(c *Config) any { return &c.PublicURL }},
	{"database", "QUARRY_DATABASE", "postgres:// URL; empty means SQLite in the data folder", func(c *Config) any { return &c.Database }},
	{"secret_key", "QUARRY_SECRET_KEY", "secret keys that seal credentials in the database, newest first, separated by commas; empty means secret.key in the data folder", func(c *Config) any { return &c.SecretKey }},
	{"kernel", "QUARRY_KERNEL", "CPU instructions of the encoder and of the vector scan: auto, avx512, avx2 or portable; results do not depend on it", func(c *Config) any { return &c.Kernel }},
	{"log", "QUARRY_LOG", "what the log shows: `warnings` (errors, too), `requests` (each request as well) or `debug`; empty means what `log_level` says, else warnings on a terminal and requests anywhere else", func(c *Config) any { return &c.Log }},
	{"log_level", "QUARRY_LOG_LEVEL", "debug, info, warn or error; empty means what `log` says, which beats it", func(c *Config) any { return &c.LogLevel }},
	{"log_format", "QUARRY_LOG_FORMAT", "text or json", func(c *Config) any { return &c.LogFormat }},
	{"max_deletes", "QUARRY_MAX_DELETES", "deletions of single documents at once in one corpus; more are refused with 429", func(c *Config) any { return &c.MaxDeletes }},
	{"max_json", "QUARRY_MAX_JSON", "largest JSON body, bytes", func(c *Config) any { return &c.MaxJSON }},
	{"max_upload", "QUARRY_MAX_UPLOAD", "largest uploaded file, bytes", func(c *Config) any { return &c.MaxUpload }},
	{"keep_images", "QUARRY_KEEP_IMAGES", "true: pictures embedded in uploaded files (PNG, JPEG, GIF and WebP from 64 pixels, at most 200 and 20 MB a document) are kept as images of the document", func(c *Config) any { return &c.KeepImages }},
	{"keep_files", "QUARRY_KEEP_FILES", "true: the bytes of an uploaded file are kept with its document, for `quarry document file` and whoever may read the document", func(c *Config) any { return &c.KeepFiles }},
	{"parse_memory", "QUARRY_PARSE_MEMORY", "memory that the process which parses a file may hold, bytes; a file that needs more is refused with 400; there are as many such processes as processors", func(c *Config) any { return &c.ParseMemory }},
	{"parse_seconds", "QUARRY_PARSE_SECONDS", "how long a file may be parsed, seconds of a processor's time; one that takes longer is refused with 400", func(c *Config) any { return &c.ParseSeconds }},
	{"tesseract", "QUARRY_TESSERACT", "the program tesseract, which recognises text in pictures and in pages of PDF that are pictures: its path, or its name in PATH", func(c *Config) any { return &c.Tesseract }},
	{"ocr_languages", "QUARRY_OCR_LANGUAGES", "languages of the texts that are recognised, separated by commas, by their names in tesseract: eng,deu; each needs its data (tesseract-ocr-deu)", func(c *Config) any { return &c.OCRLanguages }},
	{"ocr_pages", "QUARRY_OCR_PAGES", "pages of one file whose text is recognised; the metadata of the document names those beyond; 0 recognises none, in pictures either", func(c *Config) any { return &c.OCRPages }},
	{"max_artifact", "QUARRY_MAX_ARTIFACT", "largest file of a session with an agent, bytes", func(c *Config) any { return &c.MaxArtifact }},
	{"allowed_origins", "QUARRY_ALLOWED_ORIGINS", "origins whose pages may call from a browser, separated by commas: https://app.example.com, https://*.example.com for every subdomain, * for all; empty allows none", func(c *Config) any { return &c.AllowedOrigins }},
	{"sign_in_hours", "QUARRY_SIGN_IN_HOURS", "how long a person who works on stays signed in after password or code, hours", func(c *Config) any { return &c.SignInHours }},
	{"trusted_proxies", "QUARRY_TRUSTED_PROXIES", "addresses and networks (10.0.0.0/8), separated by commas, whose X-Forwarded-For is believed; empty believes nobody", func(c *Config) any { return &c.TrustedProxies }},
	{"audit_content", "QUARRY_AUDIT_CONTENT", "true: changes of documents and conversations are recorded in the audit too", func(c *Config) any { return &c.AuditContent }},
	{"history_days", "QUARRY_HISTORY_DAYS", "how long queries stay in the query history, days", func(c *Config) any { return &c.HistoryDays }},
	{"llm_private", "QUARRY_LLM_PRIVATE", "true: language models (and their token endpoints) may be at private and loopback addresses, as local ones are; link-local addresses and metadata services of clouds are never called", func(c *Config) any { return &c.LLMPrivate }},
	{"outbound_allow", "QUARRY_OUTBOUND_ALLOW", "what tools of agents, tool servers and their token endpoints may be called at private and loopback addresses, separated by commas: a host (wiki.internal), host:port, an address, or a network (10.0.0.0/8); empty allows none; link-local addresses and metadata services of clouds are never called", func(c *Config) any { return &c.OutboundAllow }},
	{"web_search", "QUARRY_WEB_SEARCH", "what searches the web for the tool web_search of agents: `tavily`, or `searxng`, an instance of one's own whose settings allow the format json", func(c *Config) any { return &c.WebSearch }},
	{"web_search_url", "QUARRY_WEB_SEARCH_URL", "where `web_search` is, such as http://searx.internal:8080, also at a private address; empty means the address of Tavily", func(c *Config) any { return &c.WebSearchURL }},
	{"web_search_key", "QUARRY_WEB_SEARCH_KEY", "the key of Tavily, without which the tool web_search is disabled; better in the environment than in a file that others read", func(c *Config) any { return &c.WebSearchKey }},
	{"trace_days", "QUARRY_TRACE_DAYS", "how long traces of agents are kept, days", func(c *Config) any { return &c.TraceDays }},
	{"otlp_endpoint", "QUARRY_OTLP_ENDPOINT", "collector of OpenTelemetry that gets the spans of agents as OTLP/HTTP in JSON, such as http://collector.internal:4318, also at a private address; /v1/traces is added to its path unless it ends so; empty sends none", func(c *Config) any { return &c.OTLPEndpoint }},
	{"otlp_headers", "QUARRY_OTLP_HEADERS", "headers for `otlp_endpoint`, such as credentials: name=value, separated by commas, values percent-encoded (Authorization=Bearer%20abc); better in the environment than in a file that others read", func(c *Config) any { return &c.OTLPHeaders }},
	{"otlp_content", "QUARRY_OTLP_CONTENT", "true: `otlp_endpoint` also gets what agents read and wrote: messages, instructions, thoughts, arguments and results of tools; secrets are masked", func(c *Config) any { return &c.OTLPContent }},
	{"model_aliases", "QUARRY_MODEL_ALIASES", "names, separated by commas, that stand for the default language model while nobody registers a model of that name; off is none", func(c *Config) any { return &c.ModelAliases }},
	{"consistency_judge", "QUARRY_CONSISTENCY_JUDGE", "name of a registered language model that scores factual consistency and corrects; empty means the embedded score, which also answers when the model fails", func(c *Config) any { return &c.ConsistencyJudge }},
	{"rate_limit", "QUARRY_RATE_LIMIT", "requests a second of one key, client or signed-in person on one node; more are refused with 429; 0 is no limit", func(c *Config) any { return &c.RateLimit }},
	{"rate_burst", "QUARRY_RATE_BURST", "requests that `rate_limit` lets through at once after a rest; 0 is twice the rate", func(c *Config) any { return &c.RateBurst }},
	{"max_expensive", "QUARRY_MAX_EXPENSIVE", "expensive calls (queries, generations, uploads, new documents) of one key in flight on one node; more wait in line", func(c *Config) any { return &c.MaxExpensive }},
	{"max_expensive_total", "QUARRY_MAX_EXPENSIVE_TOTAL", "expensive calls of all keys in flight on one node, which keys that wait get in turns; 0 is no limit", func(c *Config) any { return &c.MaxExpensiveTotal }},
	{"max_expensive_waiting", "QUARRY_MAX_EXPENSIVE_WAITING", "expensive calls of one key in line; more are refused with 429", func(c *Config) any { return &c.MaxExpensiveWaiting }},
	{"expensive_wait", "QUARRY_EXPENSIVE_WAIT", "how long an expensive call waits in line before it is refused with 429, seconds", func(c *Config) any { return &c.ExpensiveWait }},
	{"max_remote", "QUARRY_MAX_REMOTE", "calls of one key in flight on one node that wait for a language model elsewhere, such as streams; they count as expensive calls no more, and more of them wait in line in the same way", func(c *Config) any { return &c.MaxRemote }},
	{"max_remote_total", "QUARRY_MAX_REMOTE_TOTAL", "calls of all keys in flight on one node that wait for a language model elsewhere; 0 is no limit", func(c *Config) any { return &c.MaxRemoteTotal }},
	{"max_turns", "QUARRY_MAX_TURNS", "turns of agents in progress on one node, whoever waits for them; one key gets half of them, and more are refused with 429; turns for calls of agents by others have as many of their own; 0 is no limit", func(c *Config) any { return &c.MaxTurns }},
	{"max_step_transitions", "QUARRY_MAX_STEP_TRANSITIONS", "transitions between steps that one turn of an agent goes through before it ends", func(c *Config) any { return &c.MaxStepTransitions }},
	{"max_model_calls", "QUARRY_MAX_MODEL_CALLS", "calls of the language model that one turn of an agent makes before it fails", func(c *Config) any { return &c.MaxModelCalls }},
	{"trace_content", "QUARRY_TRACE_CONTENT", "true: traces of agents keep what was asked, called and answered, sealed; false: times, tokens, names and errors alone", func(c *Config) any { return &c.TraceContent }},
	{"max_query_corpora", "QUARRY_MAX_QUERY_CORPORA", "entries of `search.corpora` in one query; more are refused with 400", func(c *Config) any { return &c.MaxQueryCorpora }},
	{"index_rest_minutes", "QUARRY_INDEX_REST_MINUTES", "after so many minutes without a write the index of a corpus is merged into one file, of at most four million passages each; until then files of about one size are merged by eights", func(c *Config) any { return &c.IndexRestMinutes }},
	{"max_bodies", "QUARRY_MAX_BODIES", "memory for bodies of requests in flight, bytes: an upload counts once, JSON above 64 KiB four times; more wait as expensive calls do", func(c *Config) any { return &c.MaxBodies }},
}

// Default returns the settings of a service that nobody has configured.
func Default() Config {
	return Config{
		Data: "./quarry-data", Listen: "127.0.0.1:8080", Kernel: "auto", LogFormat: "text",
		MaxJSON: 16 << 20, MaxUpload: 10 << 20, MaxArtifact: 50 << 20, MaxDeletes: 64, HistoryDays: 90, TraceDays: 30, SignInHours: 12,
		LLMPrivate: true, TraceContent: true, WebSearch: "tavily",
		ModelAliases: strings.Join(registry.DefaultAliases, ","),
		MaxExpensive: 64, MaxExpensiveTotal: 256, MaxExpensiveWaiting: 1024, ExpensiveWait: 10, MaxBodies: 512 << 20,
		MaxRemote: 1024, MaxRemoteTotal: 2048, MaxTurns: 2048, MaxStepTransitions: 500, MaxModelCalls: 100,
		ParseMemory: 512 << 20, ParseSeconds: 60, Tesseract: "tesseract", OCRLanguages: "eng", OCRPages: 200, MaxQueryCorpora: 1000, IndexRestMinutes: 10,
	}
}

// ReadEnv overlays the settings that the environment names; an empty variable counts as not set.
func (c *Config) ReadEnv(lookup func(string) (string, bool)) error {
	for _, s := range Settings {
		v, ok := lookup(s.Env)
		if !ok || v == "" {
			continue
		}
		if err := s.set(c, v); err != nil {
			return fmt.Errorf("%s: %w", s.Env, err)
		}
	}
	return nil
}

// maxSignIn is a year, in hours.
const maxSignIn = 8_760

// minParseMemory is what a process that parses files needs before it has one.
const minParseMemory = 64 << 20

// maxDays is a hundred years, which a time.Duration holds.
const maxDays = 36_500

// Check refuses settings that can't work, naming the setting and what it may be.
func (c *Config) Check() error {
	for _, s := range []struct {
		key, value string
		allowed    []string
	}{
		{"kernel", c.Kernel, []string{"auto", "avx512", "avx2", "portable"}},
		{"log", c.Log, []string{"", "warnings", "requests", "debug"}},
		{"log_level", c.LogLevel, []string{"", "debug", "info", "warn", "error"}},
		{"log_format", c.LogFormat, []string{"text", "json"}},
		{"web_search", c.WebSearch, []string{"tavily", "searxng"}},
	} {
		if !slices.Contains(s.allowed, s.value) {
			return fmt.Errorf("setting %s is %q: it must be one of %s", s.key, s.value, strings.TrimPrefix(strings.Join(s.allowed, ", "), ", "))
		}
	}
	if c.Data == "" {
		return errors.New("setting data is empty: name a folder")
	}
	if _, err := c.Address(); err != nil {
		return err
	}
	if c.TLSCert == "" && c.TLSKey != "" {
		return errors.New("setting tls_key is given without tls_cert: name the file with the certificate, too")
	}
	if c.TLSKey == "" && c.TLSCert != "" {
		return errors.New("setting tls_cert is given without tls_key: name the file with its private key, too")
	}
	if c.MaxJSON < 1 || c.MaxUpload < 1 || c.MaxArtifact < 1 {
		return errors.New("settings max_json, max_upload and max_artifact must be at least 1 byte")
	}
	if c.ParseMemory < minParseMemory || c.ParseSeconds < 1 || c.ParseSeconds > maxWait {
		return fmt.Errorf("settings parse_memory and parse_seconds must be at least %d bytes, and between 1 and %d seconds", minParseMemory, maxWait)
	}
	if err := c.checkOCR(); err != nil {
		return err
	}
	if err := checkPublicURL(c.PublicURL); err != nil {
		return err
	}
	if err := c.checkWebSearch(); err != nil {
		return err
	}
	if err := c.checkOTLP(); err != nil {
		return err
	}
	if c.MaxDeletes < 1 {
		return errors.New("setting max_deletes must be at least 1")
	}
	if c.MaxQueryCorpora < 1 {
		return errors.New("setting max_query_corpora must be at least 1")
	}
	if c.HistoryDays < 1 || c.HistoryDays > maxDays {
		return fmt.Errorf("setting history_days must be between 1 and %d", maxDays)
	}
	if c.TraceDays < 1 || c.TraceDays > maxDays {
		return fmt.Errorf("setting trace_days must be between 1 and %d", maxDays)
	}
	if c.SignInHours < 1 || c.SignInHours > maxSignIn {
		return fmt.Errorf("setting sign_in_hours must be between 1 and %d", maxSignIn)
	}
	if _, err := c.Origins(); err != nil {
		return err
	}
	if _, err := c.Proxies(); err != nil {
		return err
	}
	if _, err := c.Outbound(); err != nil {
		return err
	}
	if _, err := c.SecretKeys(); err != nil {
		return fmt.Errorf("setting secret_key: %w", err)
	}
	if err := c.checkLimits(); err != nil {
		return err
	}
	if c.Database != "" && !strings.HasPrefix(c.Database, "postgres://") && !strings.HasPrefix(c.Database, "postgresql://") {
		return errors.New("setting database must be a postgres:// URL, or empty for SQLite")
	}
	return nil
}

// Origins returns the setting allowed_origins.
func (c *Config) Origins() (origin.Set, error) {
	return origin.Parse(parts(c.AllowedOrigins))
}

// Proxies returns the setting trusted_proxies.
func (c *Config) Proxies() (origin.Proxies, error) {
	return origin.ParseProxies(parts(c.TrustedProxies))
}

// Outbound returns the setting outbound_allow.
func (c *Config) Outbound() (outbound.Allowed, error) {
	allowed, err := outbound.ParseAllowed(parts(c.OutboundAllow))
	if err != nil {
		return outbound.Allowed{}, fmt.Errorf("setting outbound_allow: %w", err)
	}
	return allowed, nil
}

// Aliases returns the setting model_aliases.
func (c *Config) Aliases() []string {
	if c.ModelAliases == "off" {
		return nil
	}
	return parts(c.ModelAliases)
}

// parts returns what stands between commas, without blanks.
func parts(s string) (out []string) {
	for p := range strings.SplitSeq(s, ",") {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// SecretKeys returns the keys of the setting secret_key, none when it is empty.
func (c *Config) SecretKeys() ([]seal.Key, error) {
	if c.SecretKey == "" {
		return nil, nil
	}
	return seal.ParseKeys(c.SecretKey)
}

// Format writes the data folder alone, so that printing a Config shows no secret.
func (c Config) Format(s fmt.State, _ rune) { _, _ = fmt.Fprintf(s, "settings of %s", c.Data) }

// LogValue is Format for logs.
func (c Config) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(c)) }

// checkWebSearch refuses an address that can't be one. It may hold a key, so it isn't repeated.
func (c *Config) checkWebSearch() error {
	if c.WebSearchURL != "" && !plain(c.WebSearchURL) {
		return errors.New("setting web_search_url must be an address such as http://searx.internal:8080, without user, query and fragment")
	}
	return nil
}

// WebSearchOutbound returns what a search of the web may call at private addresses: what outbound_allow says, and the host of
// web_search_url, which whoever runs the service has chosen.
func (c *Config) WebSearchOutbound() (outbound.Allowed, error) {
	return outbound.ParseAllowed(append(parts(c.OutboundAllow), host(c.WebSearchURL)...))
}

// checkPublicURL refuses what a link can't begin with.
func checkPublicURL(text string) error {
	if text == "" {
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return errors.New("setting public_url must be an address such as https://search.example.com, without user, query and fragment")
	}
	return nil
}

// The highest rate that can be told from none, and the longest time that a call may stand in line.
const (
	maxRate = 1_000_000
	maxWait = 3_600
	// maxRest is a year: a corpus that is never at rest.
	maxRest = 525_600
)

func (c *Config) checkLimits() error {
	if c.RateLimit < 0 || c.RateLimit > maxRate || c.RateBurst < 0 || c.RateBurst > maxRate {
		return fmt.Errorf("settings rate_limit and rate_burst must be between 0 and %d", maxRate)
	}
	if c.RateBurst > 0 && c.RateLimit == 0 {
		return errors.New("setting rate_burst has no effect without rate_limit")
	}
	if c.MaxExpensive < 1 || c.MaxExpensiveWaiting < 0 {
		return errors.New("setting max_expensive must be at least 1, max_expensive_waiting at least 0")
	}
	if c.MaxExpensiveTotal < 0 {
		return errors.New("setting max_expensive_total must be at least 0")
	}
	if c.MaxRemote < 1 || c.MaxRemoteTotal < 0 {
		return errors.New("setting max_remote must be at least 1, max_remote_total at least 0")
	}
	if c.MaxTurns < 0 || c.MaxStepTransitions < 0 || c.MaxModelCalls < 1 {
		return errors.New("settings max_turns and max_step_transitions must be at least 0, max_model_calls at least 1")
	}
	if c.ExpensiveWait < 0 || c.ExpensiveWait > maxWait {
		return fmt.Errorf("setting expensive_wait must be between 0 and %d seconds", maxWait)
	}
	if c.IndexRestMinutes < 1 || c.IndexRestMinutes > maxRest {
		return fmt.Errorf("setting index_rest_minutes must be between 1 and %d", maxRest)
	}
	if c.MaxBodies < 1 {
		return errors.New("setting max_bodies must be at least 1 byte")
	}
	return nil
}

// Reference is the page docs/reference/config.md.
func Reference() string {
	var b strings.Builder
	b.WriteString("# Settings\n\nA flag of `quarry serve` beats the environment, the environment beats the file given with `--config`,\nthe file beats the default. Generated from the code; do not edit.\n\n")
	b.WriteString("| key in the file | environment | default | meaning |\n|---|---|---|---|\n")
	d := Default()
	for _, s := range Settings {
		fmt.Fprintf(&b, "| `%s` | `%s` | `%s` | %s |\n", s.Key, s.Env, s.get(&d), s.Help)
	}
	return b.String()
}
