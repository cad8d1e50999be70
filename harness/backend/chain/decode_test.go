package chain_test

import (
	"testing"

	"google.golang.org/protobuf/proto"

	backendv1 "assay/spec/gen/xmtp/backend/v1"
)

// decode reads the one entry of a verification request.
func decode(t *testing.T, request []byte) *backendv1.VerifySmartContractWalletSignaturesRequest_Signature {
	t.Helper()
	var r backendv1.VerifySmartContractWalletSignaturesRequest
	if err := proto.Unmarshal(request, &r); err != nil || len(r.GetSignatures()) != 1 {
		t.Fatalf("a request of %d signatures, %v", len(r.GetSignatures()), err)
	}
	return r.GetSignatures()[0]
}
