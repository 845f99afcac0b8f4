package account

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"time"

	"quarry/internal/clock"
	"quarry/internal/fault"
	"quarry/internal/id"
	"quarry/internal/identity/authz"
	"quarry/internal/page"
)

// Client is an application client; Digest is the SHA-256 hex digest of its secret, which is not kept.
type Client struct {
	ID          id.AppClient // for managing it
	ClientID    string       // for signing in with it
	Name        string
	Description string
	Enabled     bool
	Digest      string
	Tail        string // the last four characters of the secret, for its mask
	Rights      authz.Rights
	Created     time.Time
	Updated     time.Time
}

// clientPrefix is the prefix of the secrets of clients, by which people and secret scanners recognise them.
const clientPrefix = "zcs_"

// Lengths of the random parts of a client's id and secret.
const (
	clientIDLength     = 26
	clientSecretLength = 43
)

// maxClientDescription is the most that a client's description has, in characters.
const maxClientDescription = 2_000

// Masked returns the form in which the secret is shown once the client was created.
func (c *Client) Masked() string { return clientPrefix + "****" + c.Tail }

// Clients changes application clients. Grants on deleted corpora and agents are left out. A client that does not exist is
// fault.KindNotFound "app_client_not_found".
type Clients interface {
	// CreateClient writes a client and its grants. A grant on a corpus that does not exist is a fault of
	// corpus_roles[n].corpus_key.
	CreateClient(ctx context.Context, c Client) error
	// UpdateClient stores the description, state and rights that change returns for the client, in one transaction.
	// change may run more than once.
	UpdateClient(ctx context.Context, client id.AppClient, change func(Client) (Client, error)) (Client, error)
	// DeleteClient removes the client with its grants unless allow returns an error, in one transaction.
	DeleteClient(ctx context.Context, client id.AppClient, allow func(Client) error) error
}

// ClientList selects the clients to list, newest first.
type ClientList struct {
	Limit int
	After *page.Position // the last one shown, nil for the first page
	Match *regexp.Regexp // only those with a name that it matches, nil for all
}

// NoClient returns the fault for a client that does not exist.
func NoClient(client id.AppClient) error {
	return fault.NotFound("app_client_not_found", string(client), "application client %s does not exist", client)
}

// CreateClient is the command to create a client.
type CreateClient struct {
	Name        string
	Description string
	Rights      authz.Rights
}

// CreateClient creates a client and returns its secret, which is not stored. A caller can grant only rights that they
// hold.
func (s *Service) CreateClient(ctx context.Context, by authz.Principal, cmd CreateClient) (c Client, secret string, err error) {
	bad := fault.Invalid()
	checkName(cmd.Name, bad)
	checkLength("description", cmd.Description, maxClientDescription, bad)
	cmd.Rights.Check(bad)
	if len(bad.Fields) > 0 {
		return Client{}, "", bad
	}
	if err := authz.Covers(by, cmd.Rights); err != nil {
		return Client{}, "", err
	}
	secret = clientPrefix + id.Text(clientSecretLength)
	now := clock.Now()
	c = Client{
		ID: id.NewAppClient(), ClientID: id.Text(clientIDLength), Name: cmd.Name, Description: cmd.Description, Enabled: true,
		Digest: Digest(secret), Tail: Tail(secret), Rights: cmd.Rights, Created: now, Updated: now,
	}
	if err := s.store.CreateClient(ctx, c); err != nil {
		return Client{}, "", err
	}
	return c, secret, nil
}

// UpdateClient changes a client within what the caller may grant (see Patch). The tokens of a disabled client are refused
// from now on; once it is enabled again, those that have not expired are valid again.
func (s *Service) UpdateClient(ctx context.Context, by authz.Principal, client id.AppClient, p Patch) (Client, error) {
	bad := fault.Invalid()
	p.check(maxClientDescription, bad)
	if len(bad.Fields) > 0 {
		return Client{}, bad
	}
	return s.store.UpdateClient(ctx, client, func(was Client) (Client, error) {
		now := was
		err := p.apply(by, &now.Enabled, &now.Description, &now.Rights)
		if !reflect.DeepEqual(was, now) {
			now.Updated = clock.Now()
		}
		return now, err
	})
}

// DeleteClient removes a client and thereby invalidates its tokens. The caller must hold the client's rights.
func (s *Service) DeleteClient(ctx context.Context, by authz.Principal, client id.AppClient) error {
	return s.store.DeleteClient(ctx, client, func(was Client) error { return authz.Covers(by, was.Rights) })
}

// LogInClient checks the id and secret of a client. It compares digests in constant time even for an unknown client, so
// that the time of a refusal reveals nothing about either.
func (s *Service) LogInClient(ctx context.Context, clientID, secret string) error {
	c, err := s.store.ClientByID(ctx, clientID)
	known := err == nil
	if err != nil && !errors.Is(err, ErrNoHolder) {
		return fmt.Errorf("look up client: %w", err)
	}
	if !known {
		c.Digest = Digest("")
	}
	if subtle.ConstantTimeCompare([]byte(Digest(secret)), []byte(c.Digest)) != 1 || !known || !c.Enabled {
		return fault.Unauthenticated("client_id or client_secret is wrong, or the client is disabled")
	}
	return nil
}
