HTTP/1.1 200 OK
Access-Control-Allow-Origin: *
Access-Control-Allow-Headers: *
Access-Control-Allow-Credentials: true
Access-Control-Expose-Headers: *
Content-type: application/json
Content-Length: 4934
Date: Mon, 30 Nov 2026 21:34:38 GMT
Connection: keep-alive
Keep-Alive: timeout=5

