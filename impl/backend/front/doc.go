// Package front is the backend's one listener: gRPC and gRPC-Web (binary and
// base64), over HTTP/2 and HTTP/1.1, without TLS (API-160, API-165).
//
// Start with [New]; a [Server] registers services as a grpc.Server does, by
// their generated descriptions, and serves a net.Listener. [Server.Drain] ends
// it.
//
// It is net/http's server with the gRPC framing written out, which is about as
// much code as adapting a library would be. grpc-go's own server was looked at
// first, in both of its forms:
//   - for a request or response above a size limit it answers
//     RESOURCE_EXHAUSTED where the protocol asks for OUT_OF_RANGE (API-130), and
//     the place where it does so cannot be reached from outside;
//   - its own HTTP/2 transport knows no gRPC-Web, so both can only share a port
//     by guessing at the first frame of a connection, and a proxy that mixes
//     calls on one connection then gets errors;
//   - behind net/http it does not read SETTINGS of its own, and translating
//     gRPC-Web needs a third library whose limits have codes of their own.
//
// Here every code is decided in one place, [Server.ServeHTTP], and the SETTINGS
// are those of net/http: at most [Options.MaxStreams] concurrent streams are
// advertised (API-132).
//
// It does not check credentials: headers such as authorization are accepted and
// not read (API-161). It compresses nothing and understands no compression.
package front
