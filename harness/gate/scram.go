package gate

import (
	"crypto/tls"
	"net"

	"github.com/jackc/pgx/v5/pgproto3"

	"assay/harness/gate/wire"
)

// plus is the way to log in that binds the password to the TLS connection.
const plus = "SCRAM-SHA-256-PLUS"

// unbound reports whether the server sees TLS where the client sees none. Such a
// client must not be offered to bind to a channel that it does not have: libpq
// takes the offer for an attack and gives up. With TLS at both ends the client
// would say that nobody offered it, which the server takes for an attack; so
// there the offer stays, and [Gate.URL] tells the client not to take it.
func unbound(client, server net.Conn) bool {
	_, c := client.(*tls.Conn)
	_, s := server.(*tls.Conn)
	return s && !c
}

var loginAnswers = wire.Want(wire.ReadyForQuery, wire.BackendKeyData, wire.Authentication)

// offer takes the binding out of the server's offer of ways to log in. Anything
// else goes on as it came.
func (s *session) offer(m wire.Message, b *wire.Buffer) error {
	var offer pgproto3.AuthenticationSASL
	if m.Short || offer.Decode(m.Body) != nil {
		return nil
	}
	var ways []string
	for _, way := range offer.AuthMechanisms {
		if way != plus {
			ways = append(ways, way)
		}
	}
	if len(ways) == len(offer.AuthMechanisms) {
		return nil
	}
	message, err := (&pgproto3.AuthenticationSASL{AuthMechanisms: ways}).Encode(nil)
	if err != nil {
		return err
	}
	before, _ := b.Last(len(m.Body))
	if err := s.toClient(before); err != nil {
		return err
	}
	b.Passed()
	return s.toClient(message)
}
