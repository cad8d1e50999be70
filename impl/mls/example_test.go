package mls_test

import (
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"assay/impl/mls"
)

// A commit in a private message, with two bytes behind it that belong to nobody.
func ExampleParseGroupMessage() {
	data, _ := hex.DecodeString("0001" + "0002" + // mls10, private message
		"10" + "404142434445464748494a4b4c4d4e4f" + // group id
		"0000000000000007" + "03" + // epoch, commit
		"00" + "01aa" + "01bb" + // authenticated data, sender data, ciphertext
		"cafe")
	m, err := mls.ParseGroupMessage(data)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v %v in group %x, epoch %d\n", m.WireFormat, m.ContentType, m.GroupID, m.Epoch)
	fmt.Println("changes the group:", m.CommitOrProposal())
	fmt.Println("bytes behind it:", len(data)-m.Len)

	_, err = mls.ParseGroupMessage(data[:m.Len-1])
	fmt.Println(err)
	// Output:
	// private message commit in group 404142434445464748494a4b4c4d4e4f, epoch 7
	// changes the group: true
	// bytes behind it: 2
	// mls: ciphertext at byte 34: the input ends inside the field
}

// The two kinds of refusal, and the reason a publish gives for each.
func ExampleKeyPackage_Validate() {
	reason := func(data []byte, now time.Time) string {
		k, err := mls.ParseKeyPackage(data)
		if err == nil {
			err = k.Validate(now)
		}
		var decode *mls.DecodeError
		var invalid *mls.InvalidError
		switch {
		case errors.As(err, &decode):
			return "MALFORMED_PAYLOAD: " + err.Error()
		case errors.As(err, &invalid):
			return "INVALID_KEY_PACKAGE: " + err.Error()
		}
		return "stored under 03" + hex.EncodeToString(k.InstallationKey())[:8] + "…"
	}
	data := mls.GoodPackage()
	fmt.Println(reason(data, time.Unix(1_500_000, 0)))
	fmt.Println(reason(data, time.Unix(2_000_000, 0)))
	fmt.Println(reason(append(data, 0), time.Unix(1_500_000, 0)))
	// Output:
	// stored under 03ea4a6c63…
	// INVALID_KEY_PACKAGE: mls: key package breaks the lifetime rule: the lifetime has ended
	// MALFORMED_PAYLOAD: mls: key_package at byte 280: bytes are left over after the last field
}
