# Says how often it was asked.
require 'webrick'
server = WEBrick::HTTPServer.new(BindAddress: '0.0.0.0', Port: 8000, AccessLog: [])
count = 0
server.mount_proc('/') { |_, response| response.body = "#{count += 1} #{Time.now}\n" }
server.start
