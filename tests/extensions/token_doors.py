"""What doors show of a token, each by its own way."""


def by_door(get, token, holders):
    """What doors show of a token: its supplies, and its balances by holder, each by its door."""
    api, shapes = "/api/v1", f"/api?contractaddress={token}&module="
    supplies = {
        "token": get(f"{api}/tokens/{token}")["totalSupply"],
        "list": {t["address"]: t for t in get(f"{api}/tokens")["tokens"]}[token]["totalSupply"],
        "tokensupply": get(f"{shapes}stats&action=tokensupply")["result"],
        "tokeninfo": get(f"{shapes}token&action=tokeninfo")["result"][0]["totalSupply"],
        "getToken": get(f"{shapes}token&action=getToken")["result"]["totalSupply"],
        "blockscout": get(f"/api/v2/tokens/{token}")["total_supply"],
    }
    lists = {
        "holders": [
            (r["address"], r["balance"]) for r in get(f"{api}/tokens/{token}/holders")["holders"]
        ],
        "tokenholderlist": [
            (r["TokenHolderAddress"], r["TokenHolderQuantity"])
            for r in get(f"{shapes}token&action=tokenholderlist")["result"]
        ],
        "getTokenHolders": [
            (r["address"], r["value"])
            for r in get(f"{shapes}token&action=getTokenHolders")["result"]
        ],
        "blockscout": [
            (r["address"]["hash"].lower(), r["value"])
            for r in get(f"/api/v2/tokens/{token}/holders")["items"]
        ],
        "csv": [
            (line.split(",")[0], line.split(",")[3].removesuffix(" units"))
            for line in get(f"{api}/tokens/{token}/holders?format=csv").splitlines()[1:]
        ],
    }
    of_holders = {}
    for holder in holders:
        held = f"{api}/addresses/{holder}/tokens"
        v2 = f"/api/v2/addresses/{holder}"
        account = f"{shapes}account&address={holder}&action="
        of_holders[holder] = {
            "tokenbalance": get(f"{account}tokenbalance")["result"],
            **{
                f"held {query}": of_token(get(f"{held}{query}")["tokens"], "tokenAddress", token)
                for query in ("", "?sort=worth", "?block=latest")
            },
            "addresstokenbalance": of_token(
                get(f"{account}addresstokenbalance")["result"],
                "TokenAddress",
                token,
                "TokenQuantity",
            ),
            "tokenlist": of_token(get(f"{account}tokenlist")["result"], "contractAddress", token),
            "token-balances": get(f"{v2}/token-balances")[0]["value"],
            "tokens": get(f"{v2}/tokens")["items"][0]["value"],
        }
    return supplies, lists, of_holders


def of_token(records, key, token, value="balance"):
    """The balance of a token among records of what is held; "0" where none has it."""
    return next((r[value] for r in records if r[key].lower() == token), "0")
