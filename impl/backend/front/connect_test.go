package front_test

import (
	"net/http"
	"testing"

	"connectrpc.com/connect"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// A client that shares no code with grpc-go reads the same protocol.
func TestAnotherImplementationOfTheClientAgrees(t *testing.T) {
	address, _ := start(t, echo{})
	for _, test := range []struct {
		name   string
		http2  bool
		option connect.ClientOption
	}{
		{"gRPC", true, connect.WithGRPC()},
		{"gRPC-Web over HTTP/1.1", false, connect.WithGRPCWeb()},
		{"gRPC-Web over HTTP/2", true, connect.WithGRPCWeb()},
	} {
		t.Run(test.name, func(t *testing.T) {
			var protocols http.Protocols
			protocols.SetHTTP1(!test.http2)
			protocols.SetUnencryptedHTTP2(test.http2)
			transport := &http.Transport{Protocols: &protocols}
			defer transport.CloseIdleConnections()
			client := connect.NewClient[backendv1.QueryRequest, backendv1.QueryResponse](
				&http.Client{Transport: transport}, "http://"+address+queryPath, test.option, connect.WithSendGzip())
			// A client that would compress is told that it cannot.
			if _, err := client.CallUnary(t.Context(), connect.NewRequest(&backendv1.QueryRequest{Limit: 2})); connect.CodeOf(err) != connect.CodeUnimplemented {
				t.Errorf("compressed: %v", err)
			}
			client = connect.NewClient[backendv1.QueryRequest, backendv1.QueryResponse](
				&http.Client{Transport: transport}, "http://"+address+queryPath, test.option)
			r, err := client.CallUnary(t.Context(), connect.NewRequest(&backendv1.QueryRequest{Limit: 2}))
			if err != nil || len(r.Msg.Envelopes) != 2 {
				t.Errorf("got %v, %v", r, err)
			}
			_, err = client.CallUnary(t.Context(), connect.NewRequest(&backendv1.QueryRequest{Limit: 667}))
			failure, ok := err.(*connect.Error)
			if !ok || failure.Code() != connect.CodeInvalidArgument || failure.Message() != "50 % is\nnot ümlaut" || len(failure.Details()) != 1 {
				t.Errorf("got %v", err)
			}
		})
	}
}
